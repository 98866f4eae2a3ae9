module {
  irdl.dialect @tile {
    irdl.type @byte {
      %0 = irdl.base "!builtin.f4E2M1FN" 
      %1 = irdl.base "!builtin.f6E2M3FN" 
      %2 = irdl.base "!builtin.f6E3M2FN" 
      %3 = irdl.any_of(%0, %1, %2) 
      irdl.parameters(element: %3)
    }
    irdl.type @frag {
      %0 = irdl.base "!builtin.tensor" 
      %1 = irdl.base @tile::@layout 
      irdl.parameters(tile: %0, layout: %1)
    }
    irdl.type @wmma {
      %0 = irdl.base "#builtin.string" 
      irdl.parameters(operand: %0)
    }
    irdl.attribute @layout {
      %0 = irdl.base "#builtin.string" 
      irdl.parameters(text: %0)
    }
    irdl.attribute @shared {
      %0 = irdl.base "#builtin.string" 
      irdl.parameters(swizzle: %0)
    }
    irdl.attribute @tensor {
      %0 = irdl.base "#builtin.string" 
      irdl.parameters(text: %0)
    }
    irdl.operation @alloc_shared {
      %0 = irdl.any
      irdl.results(buffer: %0)
    }
    irdl.operation @load {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(source: %0, indices: variadic %1)
      %2 = irdl.any
      irdl.results(tile: %2)
    }
    irdl.operation @store {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      irdl.operands(tile: %0, target: %1, indices: variadic %2)
    }
    irdl.operation @async_copy {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      irdl.operands(source: %0, target: %1, indices: variadic %2)
      %3 = irdl.any
      irdl.attributes {"shape" = %3}
    }
    irdl.operation @async_commit 
    irdl.operation @async_wait {
      %0 = irdl.base "#builtin.integer" 
      irdl.attributes {"pending" = %0}
    }
    irdl.operation @atomic {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      irdl.operands(tile: %0, target: %1, indices: variadic %2)
      %3 = irdl.base "#builtin.string" 
      irdl.attributes {"fn" = %3}
    }
    irdl.operation @gather {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      irdl.operands(source: %0, indices: variadic %1, offsets: variadic %2, condition: variadic %3)
      %4 = irdl.any
      irdl.results(tile: %4)
    }
    irdl.operation @scatter {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      irdl.operands(tile: %0, target: %1, indices: variadic %2, offsets: variadic %3, condition: variadic %4)
    }
    irdl.operation @atomic_scatter {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      irdl.operands(tile: %0, target: %1, indices: variadic %2, offsets: variadic %3, condition: variadic %4)
      %5 = irdl.base "#builtin.string" 
      irdl.attributes {"fn" = %5}
    }
    irdl.operation @atomic_rmw {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      irdl.operands(tile: %0, target: %1, indices: variadic %2, offsets: variadic %3, condition: variadic %4)
      %5 = irdl.base "#builtin.string" 
      irdl.attributes {"fn" = %5}
      %6 = irdl.any
      irdl.results(old: %6)
    }
    irdl.operation @atomic_cas {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      irdl.operands(compare: %0, target: %1, tile: %2, indices: variadic %3, offsets: variadic %4, condition: variadic %5)
      %6 = irdl.any
      irdl.results(old: %6)
    }
    irdl.operation @barrier_init {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(barriers: %0, index: %1)
      %2 = irdl.base "#builtin.integer" 
      irdl.attributes {"count" = %2}
    }
    irdl.operation @barrier_arrive {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      irdl.operands(barriers: %0, index: %1, rank: variadic %2)
    }
    irdl.operation @barrier_expect {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(barriers: %0, index: %1)
      %2 = irdl.base "#builtin.integer" 
      irdl.attributes {"bytes" = %2}
    }
    irdl.operation @barrier_wait {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      irdl.operands(barriers: %0, index: %1, parity: %2)
    }
    irdl.operation @warpgroup_id {
      %0 = irdl.any
      irdl.results(number: %0)
    }
    irdl.operation @turn {
      %0 = irdl.any
      %1 = irdl.any
      irdl.results(number: %0, count: %1)
    }
    irdl.operation @dot {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      irdl.operands(a: %0, b: %1, c: %2)
      %3 = irdl.any
      irdl.results(d: %3)
    }
    irdl.operation @dot_sp {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      irdl.operands(a: %0, b: %1, c: %2, e: %3)
      %4 = irdl.any
      irdl.results(d: %4)
    }
    irdl.operation @dot_scaled {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      irdl.operands(a: %0, b: %1, c: %2, sfa: %3, sfb: %4)
      %5 = irdl.any
      irdl.results(d: %5)
    }
    irdl.operation @dot_sp_scaled {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      irdl.operands(a: %0, b: %1, c: %2, e: %3, sfa: %4, sfb: %5)
      %6 = irdl.any
      irdl.results(d: %6)
    }
    irdl.operation @fill {
      %0 = irdl.any
      irdl.operands(value: %0)
      %1 = irdl.any
      irdl.results(tile: %1)
    }
    irdl.operation @elementwise {
      %0 = irdl.any
      irdl.operands(inputs: variadic %0)
      %1 = irdl.base "#builtin.string" 
      irdl.attributes {"fn" = %1}
      %2 = irdl.any
      irdl.results(result: %2)
    }
    irdl.operation @cast {
      %0 = irdl.any
      irdl.operands(source: %0)
      %1 = irdl.base "#builtin.string" 
      irdl.attributes {"fn" = %1}
      %2 = irdl.any
      irdl.results(result: %2)
    }
    irdl.operation @inline_asm {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      irdl.operands(a: %0, b: variadic %1, c: variadic %2, d: variadic %3)
      %4 = irdl.base "#builtin.string" 
      %5 = irdl.base "#builtin.string" 
      irdl.attributes {"asm" = %4, "constraints" = %5}
      %6 = irdl.any
      %7 = irdl.any
      %8 = irdl.any
      %9 = irdl.any
      irdl.results(w: %6, x: variadic %7, y: variadic %8, z: variadic %9)
    }
    irdl.operation @inline_asm_volatile {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      irdl.operands(a: %0, b: variadic %1, c: variadic %2, d: variadic %3)
      %4 = irdl.base "#builtin.string" 
      %5 = irdl.base "#builtin.string" 
      irdl.attributes {"asm" = %4, "constraints" = %5}
      %6 = irdl.any
      %7 = irdl.any
      %8 = irdl.any
      %9 = irdl.any
      irdl.results(w: %6, x: variadic %7, y: variadic %8, z: variadic %9)
    }
    irdl.operation @expand {
      %0 = irdl.any
      irdl.operands(source: %0)
      %1 = irdl.base "#builtin.integer" 
      irdl.attributes {"axis" = %1}
      %2 = irdl.any
      irdl.results(result: %2)
    }
    irdl.operation @broadcast {
      %0 = irdl.any
      irdl.operands(source: %0)
      %1 = irdl.any
      irdl.results(result: %1)
    }
    irdl.operation @transpose {
      %0 = irdl.any
      irdl.operands(source: %0)
      %1 = irdl.any
      irdl.attributes {"permutation" = %1}
      %2 = irdl.any
      irdl.results(result: %2)
    }
    irdl.operation @reshape {
      %0 = irdl.any
      irdl.operands(source: %0)
      %1 = irdl.any
      irdl.results(result: %1)
    }
    irdl.operation @iota {
      %0 = irdl.base "#builtin.integer" 
      irdl.attributes {"axis" = %0}
      %1 = irdl.any
      irdl.results(result: %1)
    }
    irdl.operation @try_cancel {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      irdl.operands(responses: %0, place: %1, barriers: %2, index: %3)
    }
    irdl.operation @query_cancel {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(responses: %0, place: %1)
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      irdl.results(canceled: %2, x: %3, y: %4, z: %5)
    }
    irdl.operation @convert_layout {
      %0 = irdl.any
      irdl.operands(source: %0)
      %1 = irdl.any
      irdl.results(result: %1)
    }
    irdl.operation @slice {
      %0 = irdl.any
      irdl.operands(whole: %0)
      %1 = irdl.base "#builtin.integer" 
      irdl.attributes {"index" = %1}
      %2 = irdl.any
      irdl.results(part: %2)
    }
    irdl.operation @concat {
      %0 = irdl.any
      irdl.operands(parts: variadic %0)
      %1 = irdl.any
      irdl.results(whole: %1)
    }
    irdl.operation @ldmatrix {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(source: %0, indices: variadic %1)
      %2 = irdl.base "#builtin.string" 
      irdl.attributes {"form" = %2}
      %3 = irdl.any
      irdl.results(tile: %3)
    }
    irdl.operation @stmatrix {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      irdl.operands(tile: %0, target: %1, indices: variadic %2)
      %3 = irdl.base "#builtin.string" 
      irdl.attributes {"form" = %3}
    }
    irdl.operation @mma {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      irdl.operands(a: %0, b: %1, c: %2)
      %3 = irdl.base "#builtin.string" 
      irdl.attributes {"form" = %3}
      %4 = irdl.any
      irdl.results(d: %4)
    }
    irdl.operation @mma_sp {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      irdl.operands(a: %0, b: %1, c: %2, e: %3)
      %4 = irdl.base "#builtin.string" 
      %5 = irdl.base "#builtin.integer" 
      irdl.attributes {"form" = %4, "selector" = %5}
      %6 = irdl.any
      irdl.results(d: %6)
    }
    irdl.operation @mma_scaled {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      irdl.operands(a: %0, b: %1, c: %2, sfa: %3, sfb: %4)
      %5 = irdl.base "#builtin.string" 
      %6 = irdl.base "#builtin.integer" 
      %7 = irdl.base "#builtin.integer" 
      %8 = irdl.base "#builtin.integer" 
      %9 = irdl.base "#builtin.integer" 
      irdl.attributes {"form" = %5, "byte_id_a" = %6, "thread_id_a" = %7, "byte_id_b" = %8, "thread_id_b" = %9}
      %10 = irdl.any
      irdl.results(d: %10)
    }
    irdl.operation @mma_sp_scaled {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      irdl.operands(a: %0, b: %1, c: %2, e: %3, sfa: %4, sfb: %5)
      %6 = irdl.base "#builtin.string" 
      %7 = irdl.base "#builtin.integer" 
      %8 = irdl.base "#builtin.integer" 
      %9 = irdl.base "#builtin.integer" 
      %10 = irdl.base "#builtin.integer" 
      %11 = irdl.base "#builtin.integer" 
      irdl.attributes {"form" = %6, "selector" = %7, "byte_id_a" = %8, "thread_id_a" = %9, "byte_id_b" = %10, "thread_id_b" = %11}
      %12 = irdl.any
      irdl.results(d: %12)
    }
    irdl.operation @movmatrix {
      %0 = irdl.any
      irdl.operands(source: %0)
      %1 = irdl.base "#builtin.string" 
      irdl.attributes {"form" = %1}
      %2 = irdl.any
      irdl.results(result: %2)
    }
    irdl.operation @reduce {
      %0 = irdl.any
      irdl.operands(source: %0)
      %1 = irdl.base "#builtin.integer" 
      %2 = irdl.base "#builtin.string" 
      irdl.attributes {"axis" = %1, "fn" = %2}
      %3 = irdl.any
      irdl.results(result: %3)
    }
    irdl.operation @select {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      irdl.operands(condition: %0, on_true: %1, on_false: %2)
      %3 = irdl.any
      irdl.results(result: %3)
    }
    irdl.operation @take {
      %0 = irdl.any
      irdl.operands(source: %0)
      %1 = irdl.base "#builtin.integer" 
      %2 = irdl.base "#builtin.integer" 
      %3 = irdl.base "#builtin.integer" 
      irdl.attributes {"axis" = %1, "keep" = %2, "flip" = %3}
      %4 = irdl.any
      irdl.results(result: %4)
    }
    irdl.operation @alloc_tensor {
      %0 = irdl.any
      irdl.results(buffer: %0)
    }
    irdl.operation @tcgen05_alloc {
      %0 = irdl.any
      irdl.operands(slot: %0)
      %1 = irdl.base "#builtin.integer" 
      irdl.attributes {"columns" = %1}
    }
    irdl.operation @tcgen05_dealloc {
      %0 = irdl.any
      irdl.operands(slot: %0)
      %1 = irdl.base "#builtin.integer" 
      irdl.attributes {"columns" = %1}
    }
    irdl.operation @tcgen05_relinquish 
    irdl.operation @tensor_buffer {
      %0 = irdl.any
      irdl.operands(slot: %0)
      %1 = irdl.base "#builtin.integer" 
      irdl.attributes {"column" = %1}
      %2 = irdl.any
      irdl.results(buffer: %2)
    }
    irdl.operation @tcgen05_mma {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      irdl.operands(a: %0, b: %1, d: %2, accumulate: %3, indices: variadic %4)
      %5 = irdl.base "#builtin.string" 
      %6 = irdl.base "#builtin.string" 
      irdl.attributes {"form" = %5, "types" = %6}
    }
    irdl.operation @tcgen05_mma_scaled {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      %6 = irdl.any
      irdl.operands(a: %0, b: %1, d: %2, accumulate: %3, sfa: %4, sfb: %5, indices: variadic %6)
      %7 = irdl.base "#builtin.string" 
      %8 = irdl.base "#builtin.string" 
      irdl.attributes {"form" = %7, "types" = %8}
    }
    irdl.operation @tcgen05_cp {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      irdl.operands(source: %0, target: %1, indices: variadic %2)
      %3 = irdl.base "#builtin.string" 
      irdl.attributes {"form" = %3}
    }
    irdl.operation @tcgen05_ld {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(source: %0, indices: variadic %1)
      %2 = irdl.base "#builtin.string" 
      irdl.attributes {"form" = %2}
      %3 = irdl.any
      irdl.results(fragment: %3)
    }
    irdl.operation @tcgen05_st {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      irdl.operands(fragment: %0, target: %1, indices: variadic %2)
      %3 = irdl.base "#builtin.string" 
      irdl.attributes {"form" = %3}
    }
    irdl.operation @tcgen05_wait_ld {
      %0 = irdl.any
      irdl.operands(fragments: variadic %0)
      %1 = irdl.any
      irdl.results(waited: variadic %1)
    }
    irdl.operation @tcgen05_wait_st 
    irdl.operation @tcgen05_commit {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      irdl.operands(barriers: %0, index: %1, mask: variadic %2)
    }
    irdl.operation @tcgen05_fence {
      %0 = irdl.base "#builtin.string" 
      irdl.attributes {"side" = %0}
    }
    irdl.operation @tcgen05_ld_red {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(source: %0, indices: variadic %1)
      %2 = irdl.base "#builtin.string" 
      irdl.attributes {"form" = %2}
      %3 = irdl.any
      %4 = irdl.any
      irdl.results(fragment: %3, reduced: %4)
    }
    irdl.operation @tcgen05_shift {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(buffer: %0, indices: variadic %1)
    }
    irdl.operation @tcgen05_mma_sp {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      irdl.operands(a: %0, b: %1, d: %2, accumulate: %3, e: %4, indices: variadic %5)
      %6 = irdl.base "#builtin.string" 
      %7 = irdl.base "#builtin.string" 
      irdl.attributes {"form" = %6, "types" = %7}
    }
    irdl.operation @tcgen05_mma_sp_scaled {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      %6 = irdl.any
      %7 = irdl.any
      irdl.operands(a: %0, b: %1, d: %2, accumulate: %3, e: %4, sfa: %5, sfb: %6, indices: variadic %7)
      %8 = irdl.base "#builtin.string" 
      %9 = irdl.base "#builtin.string" 
      irdl.attributes {"form" = %8, "types" = %9}
    }
    irdl.operation @warpgroup_dot {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      irdl.operands(a: %0, b: %1, c: %2, indices: variadic %3)
      %4 = irdl.base "#builtin.string" 
      %5 = irdl.any
      irdl.attributes {"form" = %4, "warps" = %5}
      %6 = irdl.any
      irdl.results(d: %6)
    }
    irdl.operation @warpgroup_dot_sp {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      irdl.operands(a: %0, b: %1, c: %2, e: %3, indices: variadic %4)
      %5 = irdl.base "#builtin.string" 
      %6 = irdl.any
      irdl.attributes {"form" = %5, "warps" = %6}
      %7 = irdl.any
      irdl.results(d: %7)
    }
    irdl.operation @warpgroup_start {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      irdl.operands(a: %0, b: %1, c: %2, indices: variadic %3)
      %4 = irdl.base "#builtin.string" 
      %5 = irdl.any
      irdl.attributes {"form" = %4, "warps" = %5}
      %6 = irdl.any
      irdl.results(d: %6)
    }
    irdl.operation @warpgroup_wait {
      %0 = irdl.any
      irdl.operands(started: %0)
      %1 = irdl.base "#builtin.integer" 
      irdl.attributes {"pending" = %1}
      %2 = irdl.any
      irdl.results(tile: %2)
    }
    irdl.operation @tensor_dot {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      irdl.operands(a: %0, b: %1, c: %2, indices: variadic %3)
      %4 = irdl.base "#builtin.string" 
      %5 = irdl.base "#builtin.string" 
      %6 = irdl.any
      irdl.attributes {"form" = %4, "types" = %5, "warps" = %6}
      %7 = irdl.any
      irdl.results(d: %7)
    }
    irdl.operation @tensor_load {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(source: %0, stage: variadic %1)
      %2 = irdl.any
      irdl.attributes {"warps" = %2}
      %3 = irdl.any
      irdl.results(tile: %3)
    }
    irdl.operation @tensor_store {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      irdl.operands(tile: %0, target: %1, stage: variadic %2)
      %3 = irdl.any
      irdl.attributes {"warps" = %3}
    }
    irdl.operation @tensor_dot_scaled {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      irdl.operands(a: %0, b: %1, c: %2, sfa: %3, sfb: %4, indices: variadic %5)
      %6 = irdl.base "#builtin.string" 
      %7 = irdl.base "#builtin.string" 
      %8 = irdl.any
      irdl.attributes {"form" = %6, "types" = %7, "warps" = %8}
      %9 = irdl.any
      irdl.results(d: %9)
    }
    irdl.operation @tma_load {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      irdl.operands(source: %0, target: %1, barriers: %2, indices: variadic %3)
      %4 = irdl.any
      irdl.attributes {"shape" = %4}
    }
    irdl.operation @tma_store {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      irdl.operands(source: %0, target: %1, indices: variadic %2)
      %3 = irdl.any
      irdl.attributes {"shape" = %3}
    }
    irdl.operation @tma_reduce {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      irdl.operands(source: %0, target: %1, indices: variadic %2)
      %3 = irdl.any
      %4 = irdl.base "#builtin.string" 
      irdl.attributes {"shape" = %3, "fn" = %4}
    }
    irdl.operation @tma_prefetch {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(source: %0, indices: variadic %1)
      %2 = irdl.any
      irdl.attributes {"shape" = %2}
    }
    irdl.operation @tma_gather {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      %6 = irdl.any
      %7 = irdl.any
      %8 = irdl.any
      irdl.operands(source: %0, target: %1, barriers: %2, row0: %3, row1: %4, row2: %5, row3: %6, column: %7, indices: variadic %8)
      %9 = irdl.any
      irdl.attributes {"shape" = %9}
    }
    irdl.operation @tma_scatter {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      %6 = irdl.any
      %7 = irdl.any
      irdl.operands(source: %0, target: %1, row0: %2, row1: %3, row2: %4, row3: %5, column: %6, indices: variadic %7)
      %8 = irdl.any
      irdl.attributes {"shape" = %8}
    }
    irdl.operation @tma_gather_prefetch {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      irdl.operands(source: %0, row0: %1, row1: %2, row2: %3, row3: %4, column: %5)
      %6 = irdl.any
      irdl.attributes {"shape" = %6}
    }
    irdl.operation @wgmma {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      irdl.operands(a: %0, b: %1, c: %2, scale_d: %3, indices: variadic %4)
      %5 = irdl.base "#builtin.string" 
      irdl.attributes {"form" = %5}
      %6 = irdl.any
      irdl.results(d: %6)
    }
    irdl.operation @wgmma_sp {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      irdl.operands(a: %0, b: %1, c: %2, scale_d: %3, e: %4, indices: variadic %5)
      %6 = irdl.base "#builtin.string" 
      %7 = irdl.base "#builtin.integer" 
      irdl.attributes {"form" = %6, "selector" = %7}
      %8 = irdl.any
      irdl.results(d: %8)
    }
    irdl.operation @wgmma_fence {
      %0 = irdl.any
      irdl.operands(registers: variadic %0)
      %1 = irdl.any
      irdl.results(ordered: variadic %1)
    }
    irdl.operation @wgmma_commit 
    irdl.operation @wgmma_wait {
      %0 = irdl.any
      irdl.operands(accumulators: variadic %0)
      %1 = irdl.base "#builtin.integer" 
      irdl.attributes {"pending" = %1}
      %2 = irdl.any
      irdl.results(waited: variadic %2)
    }
    irdl.operation @accumulator {
      %0 = irdl.any
      irdl.results(result: %0)
    }
    irdl.operation @warp_part {
      %0 = irdl.any
      irdl.operands(source: %0)
      %1 = irdl.base "#builtin.integer" 
      irdl.attributes {"column" = %1}
      %2 = irdl.any
      irdl.results(result: %2)
    }
    irdl.operation @join_warps {
      %0 = irdl.any
      irdl.operands(sources: variadic %0)
      %1 = irdl.any
      irdl.results(result: %1)
    }
    irdl.operation @wmma_mma {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      irdl.operands(a: %0, b: %1, c: %2)
      %3 = irdl.base "#builtin.string" 
      irdl.attributes {"form" = %3}
      %4 = irdl.any
      irdl.results(d: %4)
    }
    irdl.operation @wmma_load {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(source: %0, indices: variadic %1)
      %2 = irdl.base "#builtin.string" 
      irdl.attributes {"form" = %2}
      %3 = irdl.any
      irdl.results(fragment: %3)
    }
    irdl.operation @wmma_store {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      irdl.operands(fragment: %0, target: %1, indices: variadic %2)
      %3 = irdl.base "#builtin.string" 
      irdl.attributes {"form" = %3}
    }
    irdl.operation @wmma_fill {
      %0 = irdl.any
      irdl.operands(value: %0)
      %1 = irdl.any
      irdl.results(fragment: %1)
    }
    irdl.operation @wmma_elementwise {
      %0 = irdl.any
      irdl.operands(inputs: variadic %0)
      %1 = irdl.base "#builtin.string" 
      irdl.attributes {"fn" = %1}
      %2 = irdl.any
      irdl.results(result: %2)
    }
  }
}

