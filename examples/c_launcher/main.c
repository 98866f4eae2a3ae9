/* C = A B on a GPU, by the kernel of ../kernels/gemm.mlir:
 *
 *   tilec ../kernels/gemm.mlir --target sm_90a --emit cubin --launcher -o gemm.cubin
 *   cc -I/usr/local/cuda/include main.c gemm.c -lcuda -o gemm && ./gemm
 *
 * Half-precision 1.0 is 0x3c00, so every element of C is K.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gemm.h"

enum { M = 200, N = 136, K = 72, TILE = 128 };

static void check(CUresult status, const char *what) {
  if (status == CUDA_SUCCESS) return;
  const char *name = "?";
  cuGetErrorName(status, &name);
  fprintf(stderr, "%s: %s %s\n", what, name, gemm_refused());
  exit(1);
}

static tilec_array2 array(int64_t rows, int64_t cols, size_t size) {
  tilec_array2 made = {0, {rows, cols}, {cols, 1}};
  check(cuMemAlloc(&made.data, rows * cols * size), "cuMemAlloc");
  return made;
}

int main(void) {
  CUdevice device;
  CUcontext context;
  check(cuInit(0), "cuInit");
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");

  tilec_array2 a = array(M, K, 2), b = array(K, N, 2), c = array(M, N, 4);
  check(cuMemsetD16(a.data, 0x3c00, M * K), "cuMemsetD16");
  check(cuMemsetD16(b.data, 0x3c00, K * N), "cuMemsetD16");

  gemm_module module;
  check(gemm_load(&module), "gemm_load");
  check(gemm_launch_gemm(&module, (N + TILE - 1) / TILE, (M + TILE - 1) / TILE, 1, NULL, &a, &b, &c),
        "gemm_launch_gemm");

  float last;
  check(cuMemcpyDtoH(&last, c.data + (M * N - 1) * sizeof last, sizeof last), "cuMemcpyDtoH");
  printf("%g, of %d\n", last, K);
  check(gemm_unload(&module), "gemm_unload");
  return last != K;
}
