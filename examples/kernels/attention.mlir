// RUN: tilec %s --target sm_80 | FileCheck %s
//
// Flash attention, forward: O = softmax(Q·Kᵀ / sqrt(d))·V for one head a CTA, f16 in and out, sums in
// f32, head dimension 64, any number of queries and keys. A CTA of 4 warps takes 128 queries and
// goes over the keys 64 at a time; it keeps of each query the largest score so far (m), the sum of
// its powers (l) and the weighted sum of V (o), and rescales them when m grows. Powers are of two:
// the scale passed is log2(e) / sqrt(d), more than 0. The grid is (ceil(queries / 128), heads · batches).
//
// @attention looks at all keys, @attention_causal at those that are no later than the query.

!Q = tensor<128x64xf16>
!K = tensor<64x64xf16>
!S = tensor<128x64xf32>
!P = tensor<128x64xf16>
!M = tensor<128xf32>
!M1 = tensor<128x1xf32>
!Number = tensor<128x64xi32>
!Inside = tensor<128x64xi1>
!Heads = memref<?x?x64xf16, strided<[?, 64, 1]>>

// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK: ex2.approx
// CHECK-NOT: st.shared
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32

gpu.module @attention [#nvvm.target<chip = "sm_80">] {
  gpu.func @attention(%q: !Heads {tile.aligned = 16 : i64, tile.strides = array<i64: 64, 64, 1>},
                      %k: !Heads {tile.aligned = 16 : i64, tile.strides = array<i64: 64, 64, 1>},
                      %v: !Heads {tile.aligned = 16 : i64, tile.strides = array<i64: 64, 64, 1>},
                      %o: !Heads {llvm.noalias, tile.aligned = 16 : i64, tile.strides = array<i64: 64, 64, 1>},
                      %scale: f32)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %tile = gpu.block_id x
    %head = gpu.block_id y
    %first = arith.muli %tile, %c128 : index
    %keys = memref.dim %k, %c1 : !Heads
    %end = arith.index_cast %keys : index to i32
    %ends = tile.fill %end : i32 -> !Number
    %scales = tile.fill %scale : f32 -> !S
    %scales_m = tile.fill %scale : f32 -> !M
    %lowest = arith.constant dense<0xFF800000> : !S
    %column = tile.iota axis 1 : !Number

    %tq = tile.load %q[%head, %first, %c0] masked : !Heads -> !Q
    %m0 = arith.constant dense<0xFF800000> : !M
    %l0 = arith.constant dense<0.0> : !M
    %zero = arith.constant dense<0.0> : !S
    %m, %l, %acc = scf.for %at = %c0 to %keys step %c64
        iter_args(%m_old = %m0, %l_old = %l0, %o_old = %zero) -> (!M, !M, !S) {
      %tk = tile.load %k[%head, %at, %c0] masked transposed : !Heads -> !K
      %raw = tile.dot %tq, %tk, %zero : !Q, !K, !S
      %at32 = arith.index_cast %at : index to i32
      %ats = tile.fill %at32 : i32 -> !Number
      %number = arith.addi %column, %ats : !Number
      %inside = arith.cmpi slt, %number, %ends : !Number
      %s = arith.select %inside, %raw, %lowest : !Inside, !S

      %m_tile = tile.reduce arith.maxnumf %s axis 1 : !S -> !M
      %m_new = arith.maxnumf %m_old, %m_tile : !M
      %m_scaled = arith.mulf %m_new, %scales_m : !M
      %m_below = arith.negf %m_scaled : !M
      %m_col = tile.expand %m_below axis 1 : !M -> !M1
      %ms = tile.broadcast %m_col : !M1 -> !S
      %shifted = math.fma %s, %scales, %ms : !S
      %p32 = math.exp2 %shifted fastmath<afn> : !S
      %grown = arith.subf %m_old, %m_new : !M
      %grown_scaled = arith.mulf %grown, %scales_m : !M
      %alpha = math.exp2 %grown_scaled fastmath<afn> : !M
      %l_tile = tile.reduce arith.addf %p32 axis 1 : !S -> !M
      %l_new = math.fma %l_old, %alpha, %l_tile : !M

      %p = arith.truncf %p32 : !S to !P
      %alpha_col = tile.expand %alpha axis 1 : !M -> !M1
      %alphas = tile.broadcast %alpha_col : !M1 -> !S
      %o_scaled = arith.mulf %o_old, %alphas : !S
      %tv = tile.load %v[%head, %at, %c0] masked : !Heads -> !K
      %o_new = tile.dot %p, %tv, %o_scaled : !P, !K, !S
      scf.yield %m_new, %l_new, %o_new : !M, !M, !S
    }
    %l_col = tile.expand %l axis 1 : !M -> !M1
    %ls = tile.broadcast %l_col : !M1 -> !S
    %mean = arith.divf %acc, %ls : !S
    %out = arith.truncf %mean : !S to !Q
    tile.store %out, %o[%head, %first, %c0] masked : !Q, !Heads
    gpu.return
  }

  gpu.func @attention_causal(%q: !Heads {tile.aligned = 16 : i64, tile.strides = array<i64: 64, 64, 1>},
                             %k: !Heads {tile.aligned = 16 : i64, tile.strides = array<i64: 64, 64, 1>},
                             %v: !Heads {tile.aligned = 16 : i64, tile.strides = array<i64: 64, 64, 1>},
                             %o: !Heads {llvm.noalias, tile.aligned = 16 : i64, tile.strides = array<i64: 64, 64, 1>},
                             %scale: f32)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %tile = gpu.block_id x
    %head = gpu.block_id y
    %first = arith.muli %tile, %c128 : index
    %keys = memref.dim %k, %c1 : !Heads
    // Keys after the last query of the tile need not be looked at.
    %behind = arith.addi %first, %c128 : index
    %last = arith.minui %keys, %behind : index
    %end = arith.index_cast %keys : index to i32
    %ends = tile.fill %end : i32 -> !Number
    %scales = tile.fill %scale : f32 -> !S
    %scales_m = tile.fill %scale : f32 -> !M
    %lowest = arith.constant dense<0xFF800000> : !S
    %column = tile.iota axis 1 : !Number
    %row = tile.iota axis 0 : !Number
    %first32 = arith.index_cast %first : index to i32
    %firsts = tile.fill %first32 : i32 -> !Number
    %query = arith.addi %row, %firsts : !Number

    %tq = tile.load %q[%head, %first, %c0] masked : !Heads -> !Q
    %m0 = arith.constant dense<0xFF800000> : !M
    %l0 = arith.constant dense<0.0> : !M
    %zero = arith.constant dense<0.0> : !S
    %m, %l, %acc = scf.for %at = %c0 to %last step %c64
        iter_args(%m_old = %m0, %l_old = %l0, %o_old = %zero) -> (!M, !M, !S) {
      %tk = tile.load %k[%head, %at, %c0] masked transposed : !Heads -> !K
      %raw = tile.dot %tq, %tk, %zero : !Q, !K, !S
      %at32 = arith.index_cast %at : index to i32
      %ats = tile.fill %at32 : i32 -> !Number
      %number = arith.addi %column, %ats : !Number
      %there = arith.cmpi slt, %number, %ends : !Number
      %earlier = arith.cmpi sle, %number, %query : !Number
      %inside = arith.andi %there, %earlier : !Inside
      %s = arith.select %inside, %raw, %lowest : !Inside, !S

      %m_tile = tile.reduce arith.maxnumf %s axis 1 : !S -> !M
      %m_new = arith.maxnumf %m_old, %m_tile : !M
      %m_scaled = arith.mulf %m_new, %scales_m : !M
      %m_below = arith.negf %m_scaled : !M
      %m_col = tile.expand %m_below axis 1 : !M -> !M1
      %ms = tile.broadcast %m_col : !M1 -> !S
      %shifted = math.fma %s, %scales, %ms : !S
      %p32 = math.exp2 %shifted fastmath<afn> : !S
      %grown = arith.subf %m_old, %m_new : !M
      %grown_scaled = arith.mulf %grown, %scales_m : !M
      %alpha = math.exp2 %grown_scaled fastmath<afn> : !M
      %l_tile = tile.reduce arith.addf %p32 axis 1 : !S -> !M
      %l_new = math.fma %l_old, %alpha, %l_tile : !M

      %p = arith.truncf %p32 : !S to !P
      %alpha_col = tile.expand %alpha axis 1 : !M -> !M1
      %alphas = tile.broadcast %alpha_col : !M1 -> !S
      %o_scaled = arith.mulf %o_old, %alphas : !S
      %tv = tile.load %v[%head, %at, %c0] masked : !Heads -> !K
      %o_new = tile.dot %p, %tv, %o_scaled : !P, !K, !S
      scf.yield %m_new, %l_new, %o_new : !M, !M, !S
    }
    %l_col = tile.expand %l axis 1 : !M -> !M1
    %ls = tile.broadcast %l_col : !M1 -> !S
    %mean = arith.divf %acc, %ls : !S
    %out = arith.truncf %mean : !S to !Q
    tile.store %out, %o[%head, %first, %c0] masked : !Q, !Heads
    gpu.return
  }
}
