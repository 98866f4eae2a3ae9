// RUN: tile-opt %s --tile-check-target=target=sm_91 --verify-diagnostics

// expected-error @below {{'gpu.module' op unknown target 'sm_91'; nearest legal: sm_90,}}
gpu.module @m [#nvvm.target<chip = "sm_80">] {
}
