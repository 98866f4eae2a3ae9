// Programs of IREE, each of which becomes one kernel.

func.func @product(%a: tensor<64x96xf16>, %b: tensor<96x128xf16>) -> tensor<64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %c = linalg.matmul ins(%a, %b : tensor<64x96xf16>, tensor<96x128xf16>)
                     outs(%f : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %c : tensor<64x128xf32>
}

func.func @bytes(%a: tensor<48x80xi8>, %b: tensor<80x40xi8>) -> tensor<48x40xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<48x40xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<48x40xi32>) -> tensor<48x40xi32>
  %c = linalg.matmul ins(%a, %b : tensor<48x80xi8>, tensor<80x40xi8>)
                     outs(%f : tensor<48x40xi32>) -> tensor<48x40xi32>
  return %c : tensor<48x40xi32>
}

func.func @softmax(%x: tensor<8x256xf32>) -> tensor<8x256xf32> {
  %e = tensor.empty() : tensor<8x256xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<8x256xf32>)
                                   outs(%e : tensor<8x256xf32>) -> tensor<8x256xf32>
  return %y : tensor<8x256xf32>
}

func.func @convolution(%x: tensor<1x18x18x8xf32>, %w: tensor<3x3x8x16xf32>) -> tensor<1x16x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x16x16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x18x18x8xf32>, tensor<3x3x8x16xf32>)
                                outs(%f : tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
  return %y : tensor<1x16x16x16xf32>
}

func.func @squares(%x: tensor<6x512xf32>) -> tensor<6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<6x512xf32>) outs(%f : tensor<6xf32>) {
    ^bb0(%one: f32, %sum: f32):
      %square = arith.mulf %one, %one : f32
      %next = arith.addf %sum, %square : f32
      linalg.yield %next : f32
  } -> tensor<6xf32>
  return %y : tensor<6xf32>
}

func.func @gelu(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.70710678 : f32
  %e = tensor.empty() : tensor<1000xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<1000xf32>) outs(%e : tensor<1000xf32>) {
    ^bb0(%v: f32, %_: f32):
      %scaled = arith.mulf %v, %root : f32
      %erf = math.erf %scaled : f32
      %more = arith.addf %erf, %one : f32
      %part = arith.mulf %v, %half : f32
      %result = arith.mulf %part, %more : f32
      linalg.yield %result : f32
  } -> tensor<1000xf32>
  return %y : tensor<1000xf32>
}
