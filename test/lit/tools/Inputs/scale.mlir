gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @scale(%a: memref<?x64xf32, strided<[?, 1]>>, %factor: f32) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %row = gpu.block_id x
    %col = gpu.thread_id x
    %v = memref.load %a[%row, %col] : memref<?x64xf32, strided<[?, 1]>>
    %w = arith.mulf %v, %factor : f32
    memref.store %w, %a[%row, %col] : memref<?x64xf32, strided<[?, 1]>>
    gpu.return
  }
}
