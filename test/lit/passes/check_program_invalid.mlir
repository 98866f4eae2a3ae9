// RUN: tile-opt %s --tile-check-program --split-input-file --verify-diagnostics

gpu.module @m {
  // expected-error @below {{'gpu.func' op unknown attribute 'tile.rasterise'; nearest legal: tile.rasterize}}
  gpu.func @misspelt(%n: index) kernel attributes {tile.rasterise = 4 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-error @below {{'scf.for' op unknown attribute 'tile.stage'; legal: tile.stages, tile.overlap, tile.defer_wait, tile.accumulators, tile.unroll, tile.layout}}
    scf.for %i = %c0 to %n step %c1 {
    } {tile.stage = 3 : i64}
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{'gpu.func' op does not take tile.unroll, an attribute of scf.for}}
  gpu.func @elsewhere(%a: memref<64xf16>, %c: i1) kernel attributes {tile.unroll = 4 : i64} {
    %c0 = arith.constant 0 : index
    // expected-error @below {{'scf.if' op does not take tile.stages, an attribute of scf.for}}
    scf.if %c {
    } {tile.stages = 3 : i64}
    // expected-error @below {{'arith.addi' op does not take tile.layout, an attribute of ops that give a tile}}
    %n = arith.addi %c0, %c0 {tile.layout = 0 : i64} : index
    // expected-error @below {{'tile.load' op tile.direct is a unit attribute: it takes no value; omit it to mean false}}
    %x = tile.load %a[%n] {tile.direct = false} : memref<64xf16> -> tensor<64xf16>
    // expected-error @below {{'tile.store' op does not take tile.direct, an attribute of tile.load}}
    tile.store %x, %a[%n] {tile.direct} : tensor<64xf16>, memref<64xf16>
    // expected-error @below {{'arith.addf' op does not take tile.promote, an attribute of tile.dot}}
    %y = arith.addf %x, %x {tile.promote = true} : tensor<64xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{'gpu.func' op argument 0: unknown attribute 'tile.align'; legal: tile.aligned, tile.sizes, tile.strides}}
  // expected-error @below {{'gpu.func' op argument 1: tile.aligned applies to memory, but this is of type index}}
  gpu.func @arguments(%a: memref<64xf16> {tile.align = 16 : i64}, %n: index {tile.aligned = 16 : i64}) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @steps(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %down = arith.constant -1 : index
    // expected-error @below {{'scf.for' op counts up: its step must be positive, not 0}}
    scf.for %i = %c0 to %n step %c0 {
    }
    // expected-error @below {{'scf.for' op counts up: its step must be positive, not -1}}
    scf.for %i = %n to %c0 step %down {
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{'gpu.func' op tile.dynamic_shared is a number of bytes}}
  gpu.func @kinds() kernel attributes {tile.dynamic_shared = "many"} {
    %c1 = arith.constant 1 : index
    // expected-error @below {{'gpu.launch' op is inside a kernel; kernels are launched by the host}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
        threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
      gpu.terminator
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @rows(%a: memref<?x?xf16>, %each: tensor<32x64xi32>, %t: tensor<32x64xf16>) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @below {{'tile.gather' op tile.copy_rows is true or false}}
    %0 = tile.gather %a[%c0, %c0] along [0] by %each {tile.copy_rows} : memref<?x?xf16> by tensor<32x64xi32> -> tensor<32x64xf16>
    // expected-error @below {{'tile.load' op does not take tile.copy_rows, an attribute of tile.gather and tile.scatter}}
    %1 = tile.load %a[%c0, %c0] {tile.copy_rows = true} : memref<?x?xf16> -> tensor<32x64xf16>
    // expected-error @below {{'tile.atomic_scatter' op does not take tile.copy_rows, an attribute of tile.gather and tile.scatter}}
    tile.atomic_scatter arith.addf %t, %a[%c0, %c0] along [0] by %each {tile.copy_rows = true} : tensor<32x64xf16>, memref<?x?xf16> by tensor<32x64xi32>
    // expected-error @below {{'tile.scatter' op unknown attribute 'tile.copy_row'; legal: tile.copy_rows}}
    tile.scatter %t, %a[%c0, %c0] along [0] by %each {tile.copy_row = true} : tensor<32x64xf16>, memref<?x?xf16> by tensor<32x64xi32>
    gpu.return
  }
}
