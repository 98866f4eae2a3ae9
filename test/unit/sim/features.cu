// What CUDA C++ compiles to besides arithmetic: calls, printf, assert, tables, stacks, warps.
#include <cassert>
#include <cstdio>
#include <cuda_fp16.h>

__constant__ float table[4] = {1, 2, 3, 4};
__device__ int counter;
__device__ int *where = &counter;

struct Parameters {
  int n;
  float bias[3];
};

__device__ __noinline__ float chain(float x, int n) {
  for (int i = 0; i < n; i++) x = x * 1.5f + table[i & 3];
  return x;
}

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void features(float *y, const float *x, Parameters p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= p.n) return;
  assert(p.bias[0] > 0);
  if (i == 3) printf("%d: %.2f %s\n", i, x[i], "three");
  y[i] = chain(x[i] + p.bias[i % 3], i % 5) + fibonacci(i % 7);
  atomicAdd(where, 1);
  if (i == 0) y[p.n] = 1.0f;
}

extern "C" __global__ void warps(float *y, int *total) {
  __shared__ float tile[256];
  extern __shared__ __half halves[];
  const int t = threadIdx.x;
  tile[t] = y[t];
  halves[t] = __float2half(t);
  __syncthreads();
  float v = tile[255 - t] + __half2float(halves[t ^ 1]);
  v += __shfl_xor_sync(~0u, v, 3);
  float mine[8];
  for (int i = 0; i < 8; i++) mine[i] = v * i;
  y[t] = v + mine[(int)tile[t] & 7];
  const unsigned ballot = __ballot_sync(~0u, t % 3 == 0);
  if (t % 32 == 0) atomicAdd(total, __popc(ballot));
}
