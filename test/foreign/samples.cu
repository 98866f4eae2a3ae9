// Kernels of the kinds that CUDA's samples show, written for this suite.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

#define KERNEL extern "C" __global__ void

KERNEL vector_add(const float *a, const float *b, float *c, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) c[i] = a[i] + b[i];
}

KERNEL matrix_mul(float *c, const float *a, const float *b, int n) {  // 16x16 tiles
  __shared__ float as[16][16], bs[16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    as[y][x] = a[row * n + k + x];
    bs[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; i++) sum += as[y][i] * bs[i][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

KERNEL transpose(float *out, const float *in, int width, int height) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

__device__ int warp_sum(int v) {
  for (int d = 16; d; d >>= 1) v += __shfl_down_sync(~0u, v, d);
  return v;
}

KERNEL reduce(int *total, const int *x, int n) {
  __shared__ int part[32];
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = warp_sum(threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0);
    if (threadIdx.x == 0) atomicAdd(total, sum);
  }
}

KERNEL fence_reduce(int *total, volatile int *parts, unsigned *count, const int *x, int n) {
  __shared__ int part[8];
  __shared__ bool last;
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < 8; i++) sum += part[i];
    parts[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(count, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    int all = 0;
    for (int i = 0; i < gridDim.x; i++) all += parts[i];
    *total = all;
  }
}

KERNEL histogram(unsigned *bins, const unsigned char *data, int n) {
  __shared__ unsigned mine[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) mine[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[data[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    if (mine[i]) atomicAdd(&bins[i], mine[i]);
}

KERNEL block_scan(int *out, const int *in) {  // Hillis and Steele, 256 threads
  __shared__ int a[2][256];
  int t = threadIdx.x, from = 0, i = blockIdx.x * 256 + t;
  a[0][t] = in[i];
  __syncthreads();
  for (int d = 1; d < 256; d *= 2, from ^= 1) {
    a[from ^ 1][t] = a[from][t] + (t >= d ? a[from][t - d] : 0);
    __syncthreads();
  }
  out[i] = a[from][t];
}

KERNEL look_back_scan(int *out, const int *in, unsigned long long *state, unsigned *ticket) {
  // One pass: each block publishes its sum, then the sum with all before it.
  __shared__ int warps[8], before;
  __shared__ unsigned tile;
  int t = threadIdx.x;
  if (t == 0) tile = atomicAdd(ticket, 1u);
  __syncthreads();
  int i = tile * 256 + t, v = in[i];
  for (int d = 1; d < 32; d *= 2) {
    int other = __shfl_up_sync(~0u, v, d);
    if (t % 32 >= d) v += other;
  }
  if (t % 32 == 31) warps[t / 32] = v;
  __syncthreads();
  for (int w = 0; w < t / 32; w++) v += warps[w];
  if (t == 255) {
    volatile unsigned long long *s = state;
    int sum = v, back = 0;
    s[tile] = tile ? 1ull << 32 | (unsigned)sum : 2ull << 32 | (unsigned)sum;
    for (int at = (int)tile - 1; at >= 0;) {
      unsigned long long found = s[at];
      if (!(found >> 32)) continue;
      back += (int)(unsigned)found;
      if (found >> 32 == 2) break;
      at--;
    }
    if (tile) s[tile] = 2ull << 32 | (unsigned)(sum + back);
    before = back;
  }
  __syncthreads();
  out[i] = v + before;
}

KERNEL bitonic_sort(unsigned *x) {
  __shared__ unsigned s[512];
  s[threadIdx.x] = x[threadIdx.x], s[threadIdx.x + 256] = x[threadIdx.x + 256];
  for (int size = 2; size <= 512; size *= 2)
    for (int stride = size / 2; stride; stride /= 2) {
      __syncthreads();
      int at = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      bool down = (at & size) != 0;
      unsigned a = s[at], b = s[at + stride];
      if ((a > b) != down) s[at] = b, s[at + stride] = a;
    }
  __syncthreads();
  x[threadIdx.x] = s[threadIdx.x], x[threadIdx.x + 256] = s[threadIdx.x + 256];
}

__constant__ float taps[9];
KERNEL convolve(float *out, const float *in, int n) {
  __shared__ float s[256 + 8];
  int i = blockIdx.x * 256 + threadIdx.x;
  for (int j = threadIdx.x; j < 264; j += 256) {
    int from = blockIdx.x * 256 + j - 4;
    s[j] = from >= 0 && from < n ? in[from] : 0;
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 9; k++) sum += taps[k] * s[threadIdx.x + k];
  if (i < n) out[i] = sum;
}

KERNEL compact(int *out, int *count, const int *in, int n) {  // one atomic a warp
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool keep = i < n && in[i] > 0;
  unsigned mask = __ballot_sync(~0u, keep);
  int lane = threadIdx.x % 32, base = 0;
  if (lane == 0 && mask) base = atomicAdd(count, __popc(mask));
  base = __shfl_sync(~0u, base, 0);
  if (keep) out[base + __popc(mask & ((1u << lane) - 1))] = in[i];
}

KERNEL locked_sum(int *lock, int *total, const int *x) {  // a spin lock, one thread of each block
  if (threadIdx.x) return;
  while (atomicCAS(lock, 0, 1)) {}
  __threadfence();
  *total = *total * 3 % 1000003 + x[blockIdx.x];
  __threadfence();
  atomicExch(lock, 0);
}

KERNEL walsh(float *x) {  // fast Walsh transform of 512
  __shared__ float s[512];
  for (int i = threadIdx.x; i < 512; i += 256) s[i] = x[blockIdx.x * 512 + i];
  for (int h = 1; h < 512; h *= 2) {
    __syncthreads();
    int at = threadIdx.x / h * 2 * h + threadIdx.x % h;
    float a = s[at], b = s[at + h];
    s[at] = a + b, s[at + h] = a - b;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 512; i += 256) x[blockIdx.x * 512 + i] = s[i];
}

KERNEL rows_by_vector(float *y, const float4 *a, const float4 *x, int n4) {  // a warp a row
  int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  float sum = 0;
  for (int i = threadIdx.x % 32; i < n4; i += 32) {
    float4 u = a[row * n4 + i], v = x[i];
    sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
  }
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) y[row] = sum;
}

KERNEL mandelbrot(int *out, int width, int limit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  double cr = x * 3.0 / width - 2, ci = y * 2.0 / gridDim.y - 1, zr = 0, zi = 0;
  int i = 0;
  for (; i < limit && __dadd_rn(__dmul_rn(zr, zr), __dmul_rn(zi, zi)) < 4; i++) {
    double t = __dadd_rn(__dsub_rn(__dmul_rn(zr, zr), __dmul_rn(zi, zi)), cr);
    zi = __dadd_rn(__dmul_rn(__dmul_rn(2, zr), zi), ci);
    zr = t;
  }
  out[y * width + x] = i;
}

KERNEL sobel(unsigned char *out, const unsigned char *in, int width, int height) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  const unsigned char *p = in + y * width + x;
  int h = p[1 - width] + 2 * p[1] + p[1 + width] - p[-1 - width] - 2 * p[-1] - p[width - 1];
  int v = p[width - 1] + 2 * p[width] + p[width + 1] - p[-width - 1] - 2 * p[-width] - p[1 - width];
  out[y * width + x] = min(abs(h) + abs(v), 255);
}

KERNEL heat(float *a, float *b, int n, int steps) {  // the whole grid steps together
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  int i = grid.thread_rank();
  for (int s = 0; s < steps; s++) {
    if (i > 0 && i < n - 1) b[i] = 0.25f * a[i - 1] + 0.5f * a[i] + 0.25f * a[i + 1];
    grid.sync();
    float *t = a;
    a = b, b = t;
  }
}

KERNEL tensor_mul(float *c, const half *a, const half *b, int n) {  // a warp a tile of 16x16
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, half, row_major> fa;
  fragment<matrix_b, 16, 16, 16, half, row_major> fb;
  fragment<accumulator, 16, 16, 16, float> fc;
  fill_fragment(fc, 0.f);
  for (int k = 0; k < n; k += 16) {
    load_matrix_sync(fa, a + blockIdx.y * 16 * n + k, n);
    load_matrix_sync(fb, b + k * n + blockIdx.x * 16, n);
    mma_sync(fc, fa, fb, fc);
  }
  store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, fc, n, mem_row_major);
}

KERNEL pipelined_copy(int4 *out, const int4 *in, int tiles) {  // two stages of asynchronous copies
  __shared__ int4 stage[2][128];
  int t = threadIdx.x;
  auto fetch = [&](int i) {
    if (i < tiles) __pipeline_memcpy_async(&stage[i % 2][t], &in[(blockIdx.x * tiles + i) * 128 + t], 16);
    __pipeline_commit();
  };
  fetch(0);
  for (int i = 0; i < tiles; i++) {
    fetch(i + 1);
    __pipeline_wait_prior(1);
    __syncthreads();
    int4 v = stage[i % 2][127 - t];
    v.x++;
    out[(blockIdx.x * tiles + i) * 128 + t] = v;
    __syncthreads();
  }
}

KERNEL dot_halves(float *total, const half2 *x, const half2 *y, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float2 v = __half22float2(__hmul2(x[i], y[i]));
    sum += v.x + v.y;
  }
  atomicAdd(total, sum);
}

struct Node { int value; Node *next; };
KERNEL lists(int *out, int n) {  // device malloc and free
  Node *head = nullptr;
  for (int i = 0; i < n; i++) {
    Node *node = (Node *)malloc(sizeof(Node));
    node->value = i * (int)threadIdx.x, node->next = head;
    head = node;
  }
  int sum = 0;
  while (head) {
    Node *next = head->next;
    sum = sum * 7 + head->value;
    free(head);
    head = next;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
