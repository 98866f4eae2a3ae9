// What the CUDA headers bring along: mathematical functions, cooperative groups, wmma,
// pipelines and barriers of libcu++, narrow types, virtual functions.
#include <cmath>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <mma.h>

namespace cg = cooperative_groups;

extern "C" __global__ void functions(float *y, double *z, const float *x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = x[i];
  y[i] = sinf(v) + cosf(v) * tanhf(v) + expf(v) - logf(fabsf(v) + 1) + powf(fabsf(v), 1.25f) +
         rsqrtf(fabsf(v) + 1) + fmodf(v, 0.75f) + erff(v);
  z[i] = sin((double)v) + exp((double)v) + pow(fabs((double)v), 1.75) + sqrt(fabs((double)v));
}

extern "C" __global__ void sum(float *total, const float *x, int n) {
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  __shared__ float parts[32];
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += x[i];
  s = cg::reduce(warp, s, cg::plus<float>());
  if (warp.thread_rank() == 0) parts[warp.meta_group_rank()] = s;
  block.sync();
  if (warp.meta_group_rank() == 0) {
    s = warp.thread_rank() < warp.meta_group_size() ? parts[warp.thread_rank()] : 0;
    s = cg::reduce(warp, s, cg::plus<float>());
    if (warp.thread_rank() == 0) atomicAdd(total, s);
  }
}

extern "C" __global__ void tile(float *c, const half *a, const half *b) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 1.0f);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; i++) fc.x[i] *= 2;
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

extern "C" __global__ void narrow(float *y, const float *x) {
  const int i = threadIdx.x;
  y[4 * i] = __half2float(__hadd(__float2half(x[i]), __float2half(1.0f)));
  y[4 * i + 1] = __bfloat162float(__float2bfloat16(x[i]) * __float2bfloat16(2.0f));
  y[4 * i + 2] = float(__nv_fp8_e4m3(x[i]));
  y[4 * i + 3] = float(__nv_fp8_e5m2(x[i]));
}

extern "C" __global__ void pipeline(float *y, const float *x) {
  __shared__ alignas(128) float stages[2][256];
  __shared__ cuda::barrier<cuda::thread_scope_block> all;
  const int t = threadIdx.x;
  if (t == 0) init(&all, blockDim.x);
  __syncthreads();
  auto copies = cuda::make_pipeline();
  for (int stage = 0; stage < 2; stage++) {
    copies.producer_acquire();
    cuda::memcpy_async(&stages[stage][t], x + stage * 256 + t, sizeof(float), copies);
    copies.producer_commit();
  }
  float s = 0;
  for (int stage = 0; stage < 2; stage++) {
    copies.consumer_wait();
    all.arrive_and_wait();
    s += stages[stage][255 - t];
    copies.consumer_release();
  }
  y[t] = s;
}

struct Function {
  virtual __device__ int of(int x) = 0;
};
struct Successor : Function {
  __device__ int of(int x) override { return x + 1; }
};
struct Double : Function {
  __device__ int of(int x) override { return x * 2; }
};

extern "C" __global__ void virtuals(int *y) {
  Successor successor;
  Double twice;
  Function *f = (threadIdx.x & 1) ? (Function *)&successor : (Function *)&twice;
  int s = 0;
  switch (threadIdx.x % 5) {
  case 0: s = 3; break;
  case 1: s = 7; break;
  case 2: s = f->of(1); break;
  case 3: s = f->of(9); break;
  default: s = -1;
  }
  y[threadIdx.x] = s + f->of(threadIdx.x);
}
