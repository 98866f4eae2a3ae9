// Mistakes of the kinds that NVIDIA documents for compute-sanitizer's tools, written for this test:
// each kernel is compiled wrong and, with its mistake mended, right. The tool's name for it is above.
#include <cooperative_groups.h>
#include <cstdint>
#include <cuda_pipeline.h>

#define BOTH(name, ...)                                                                        \
  extern "C" __global__ void name##_wrong(int *out, int *in) { name<false>(out, in); }         \
  extern "C" __global__ void __VA_ARGS__ name##_right(int *out, int *in) { name<true>(out, in); }

// memcheck: misaligned access
template <bool RIGHT> __device__ void unaligned(int *out, int *in) {
  char *at = reinterpret_cast<char *>(out + threadIdx.x) + (RIGHT ? 0 : 1);
  *reinterpret_cast<volatile int *>(at) = 42; // wrong
}
BOTH(unaligned)

// memcheck: invalid address
template <bool RIGHT> __device__ void nowhere(int *out, int *in) {
  int *at = RIGHT ? out + threadIdx.x : reinterpret_cast<int *>(0x87654320);
  *at = 42; // wrong
}
BOTH(nowhere)

// memcheck: beyond an allocation, by one thread
template <bool RIGHT> __device__ void beyond(int *out, int *in) {
  int at = threadIdx.x + 1;
  if (!RIGHT || at < 64)
    out[at] = 1; // wrong
}
BOTH(beyond)

// memcheck: beyond an array in shared memory
template <bool RIGHT> __device__ void beyond_shared(int *out, int *in) {
  extern __shared__ int held[];
  held[threadIdx.x + (RIGHT ? 0 : 64)] = 1; // wrong
}
BOTH(beyond_shared)

// memcheck: double free
template <bool RIGHT> __device__ void freed_twice(int *out, int *in) {
  int *block = static_cast<int *>(malloc(16));
  block[0] = threadIdx.x;
  out[threadIdx.x] = block[0];
  free(block);
  if (!RIGHT)
    free(block); // wrong
}
BOTH(freed_twice)

// memcheck: use of freed memory
template <bool RIGHT> __device__ void freed_before(int *out, int *in) {
  volatile int *block = static_cast<int *>(malloc(16));
  block[0] = threadIdx.x;
  if (!RIGHT)
    free(const_cast<int *>(block));
  out[threadIdx.x] = block[0]; // wrong
  if (RIGHT)
    free(const_cast<int *>(block));
}
BOTH(freed_before)

// racecheck: read after write, no __syncthreads
template <bool RIGHT> __device__ void unsynced_block(int *out, int *in) {
  __shared__ int held[64];
  held[threadIdx.x] = in[threadIdx.x];
  if (RIGHT)
    __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int i = 0; i < 64; i++)
      sum += held[i]; // wrong
    out[0] = sum;
  }
}
BOTH(unsynced_block)

// racecheck: write after read, in a warp without __syncwarp
template <bool RIGHT> __device__ void unsynced_warp(int *out, int *in) {
  __shared__ int held[64];
  int lane = threadIdx.x % 32, first = threadIdx.x - lane;
  held[threadIdx.x] = in[threadIdx.x];
  if (RIGHT)
    __syncwarp();
  int other = held[first + (lane + 1) % 32]; // wrong
  if (RIGHT)
    __syncwarp();
  held[threadIdx.x] = other;
  out[threadIdx.x] = held[threadIdx.x];
}
BOTH(unsynced_warp)

// racecheck: write after write
template <bool RIGHT> __device__ void written_twice(int *out, int *in) {
  __shared__ int held;
  if (!RIGHT || threadIdx.x == 0)
    *const_cast<volatile int *>(&held) = threadIdx.x; // wrong
  __syncthreads();
  out[threadIdx.x] = held;
}
BOTH(written_twice)

// racecheck: an asynchronous copy is read before the wait
template <bool RIGHT> __device__ void unawaited(int *out, int *in) {
  __shared__ int held[64];
  __pipeline_memcpy_async(&held[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit();
  if (RIGHT)
    __pipeline_wait_prior(0);
  out[threadIdx.x] = *const_cast<volatile int *>(&held[threadIdx.x]); // wrong
  __pipeline_wait_prior(0);
}
BOTH(unawaited)

// racecheck: the CTA of a cluster whose shared memory is read may have exited
template <bool RIGHT> __device__ void left_cluster(int *out, int *in) {
  __shared__ int held[64];
  auto cluster = cooperative_groups::this_cluster();
  held[threadIdx.x] = in[threadIdx.x];
  cluster.sync();
  int *other = cluster.map_shared_rank(held, cluster.block_rank() ^ 1);
  out[blockIdx.x * 64 + threadIdx.x] = other[threadIdx.x]; // wrong
  if (RIGHT)
    cluster.sync();
}
extern "C" __global__ void __cluster_dims__(2) left_cluster_wrong(int *out, int *in) {
  left_cluster<false>(out, in);
}
extern "C" __global__ void __cluster_dims__(2) left_cluster_right(int *out, int *in) {
  left_cluster<true>(out, in);
}

// initcheck, in shared memory: a value that nothing has written
template <bool RIGHT> __device__ void unwritten(int *out, int *in) {
  __shared__ volatile int held[64];
  if (RIGHT || threadIdx.x < 63)
    held[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = held[threadIdx.x]; // wrong
}
BOTH(unwritten)

// synccheck: threads have exited and never come to a barrier
template <bool RIGHT> __device__ void exited(int *out, int *in) {
  if (!RIGHT && threadIdx.x >= 32)
    return;
  __syncthreads(); // wrong
  out[threadIdx.x] = 1;
}
BOTH(exited)

// synccheck: divergent threads in a warp
template <bool RIGHT> __device__ void divergent(int *out, int *in) {
  if (RIGHT || threadIdx.x % 2)
    __syncthreads(); // wrong
  out[threadIdx.x] = 1;
}
BOTH(divergent)

// synccheck: __syncwarp by a thread that its mask does not name
template <bool RIGHT> __device__ void unnamed(int *out, int *in) {
  unsigned members = RIGHT ? 0xffffffff : 0x7fffffff;
  asm volatile("bar.warp.sync %0;" ::"r"(members) : "memory"); // wrong, as __syncwarp(members)
  out[threadIdx.x] = 1;
}
BOTH(unnamed)

// synccheck: a barrier of threads that are no whole warps
template <bool RIGHT> __device__ void odd_count(int *out, int *in) {
  int count = RIGHT ? 64 : 40;
  asm volatile("bar.sync 1, %0;" ::"r"(count)); // wrong
  out[threadIdx.x] = 1;
}
BOTH(odd_count)
