// C = A·Bᵀ of f16, tile 128×128×64, three stages: cp.async, ldmatrix, mma.sync.
#include <cstdint>
#include <cuda_fp16.h>

constexpr int M_TILE = 128, N_TILE = 128, K_TILE = 64, STAGES = 3;

__device__ __forceinline__ uint32_t swizzled(int row, int chunk) {
  return row * 128 + ((chunk ^ (row & 7)) << 4);
}

__device__ __forceinline__ void copy(uint32_t to, const half *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
}

__device__ __forceinline__ void load(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}

__device__ __forceinline__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                         uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

extern "C" __global__ void __launch_bounds__(256)
    gemm(const half *A, const half *B, half *C, int n, int k) {
  extern __shared__ __align__(128) char memory[];
  const uint32_t base = (uint32_t)__cvta_generic_to_shared(memory);
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int row0 = (warp & 1) * 64, col0 = (warp >> 1) * 32;
  const half *a_tile = A + (size_t)blockIdx.y * M_TILE * k;
  const half *b_tile = B + (size_t)blockIdx.x * N_TILE * k;
  constexpr int A_BYTES = M_TILE * 128, STAGE = (M_TILE + N_TILE) * 128;
  auto fetch = [&](int tile) {
    const uint32_t stage = base + tile % STAGES * STAGE;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const int row = (threadIdx.x + i * 256) >> 3, chunk = threadIdx.x & 7;
      const size_t offset = (size_t)row * k + tile * K_TILE + chunk * 8;
      copy(stage + swizzled(row, chunk), a_tile + offset);
      copy(stage + A_BYTES + swizzled(row, chunk), b_tile + offset);
    }
  };
  float acc[4][4][4] = {};
  const int tiles = k / K_TILE;
  for (int t = 0; t < STAGES - 1; t++) {
    if (t < tiles) fetch(t);
    asm volatile("cp.async.commit_group;");
  }
  for (int t = 0; t < tiles; t++) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
    __syncthreads();
    if (t + STAGES - 1 < tiles) fetch(t + STAGES - 1);
    asm volatile("cp.async.commit_group;");
    const uint32_t a_base = base + t % STAGES * STAGE, b_base = a_base + A_BYTES;
#pragma unroll
    for (int step = 0; step < 4; step++) {
      uint32_t a[4][4], b[2][4];
#pragma unroll
      for (int i = 0; i < 4; i++)
        load(a[i], a_base + swizzled(row0 + i * 16 + (lane & 15), step * 2 + (lane >> 4)));
#pragma unroll
      for (int j = 0; j < 2; j++)
        load(b[j], b_base + swizzled(col0 + j * 16 + (lane & 7) + (lane >> 4) * 8,
                                     step * 2 + (lane >> 3 & 1)));
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          multiply(acc[i][j], a[i], b[j >> 1][(j & 1) * 2], b[j >> 1][(j & 1) * 2 + 1]);
    }
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const int row = blockIdx.y * M_TILE + row0 + i * 16 + (lane >> 2);
      const int col = blockIdx.x * N_TILE + col0 + j * 8 + (lane & 3) * 2;
      half2 *c = (half2 *)(C + (size_t)row * n + col);
      c[0] = __floats2half2_rn(acc[i][j][0], acc[i][j][1]);
      c[4 * n] = __floats2half2_rn(acc[i][j][2], acc[i][j][3]);
    }
}
