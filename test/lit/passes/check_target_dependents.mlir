// RUN: tile-opt %s --tile-check-target --split-input-file --verify-diagnostics

gpu.module @since [#nvvm.target<chip = "sm_90">] {
  gpu.func @waits() kernel {
    nvvm.griddepcontrol wait
    nvvm.griddepcontrol launch_dependents
    gpu.return
  }
}

// -----

gpu.module @before [#nvvm.target<chip = "sm_89">] {
  gpu.func @waits() kernel {
    // expected-error @below {{'nvvm.griddepcontrol' op griddepcontrol.wait does not exist on sm_89; it needs sm_90 (PTX 7.8)}}
    nvvm.griddepcontrol wait
    gpu.return
  }
}
