// Kernels in what C++ has for PTX without CUDA's headers: intrinsics of LLVM and inline assembly.
#define KERNEL extern "C" __attribute__((global)) void
#define DEVICE __attribute__((device))
#define SHARED __attribute__((shared))
#define CONSTANT __attribute__((constant))
#define T __nvvm_read_ptx_sreg_tid_x()
#define AT (__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + T)
#define SYNC __syncthreads()
#define ALL 0xffffffffu
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32;
typedef unsigned long long u64;

static DEVICE u32 address(const void *p) {
  return (u32)(u64)(__attribute__((address_space(3))) const void *)p;
}

KERNEL big_sums(u32 *r, const u32 *a, const u32 *b) {  // 128 bits and the carry
  u32 i = AT;
  const u32 *x = a + 4 * i, *y = b + 4 * i;
  u32 s0, s1, s2, s3, c;
  asm("add.cc.u32 %0, %5, %9;\n\taddc.cc.u32 %1, %6, %10;\n\taddc.cc.u32 %2, %7, %11;\n\t"
      "addc.cc.u32 %3, %8, %12;\n\taddc.u32 %4, 0, 0;"
      : "=r"(s0), "=r"(s1), "=r"(s2), "=r"(s3), "=r"(c)
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]));
  u32 *out = r + 5 * i;
  out[0] = s0, out[1] = s1, out[2] = s2, out[3] = s3, out[4] = c;
}

KERNEL small_product(float *c, const u16 *a, const u16 *b) {  // bf16 16x16 by 16x8, one warp
  SHARED __attribute__((aligned(128))) u16 as[16 * 16];
  SHARED __attribute__((aligned(128))) u16 bs[16 * 8];
  u32 t = T;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address(as + 8 * t)), "l"(a + 8 * t));
  if (t < 16)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(address(bs + 8 * t)), "l"(b + 8 * t));
  asm volatile("cp.async.wait_all;" ::: "memory");
  SYNC;
  u32 x0, x1, x2, x3, y0, y1;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x0), "=r"(x1), "=r"(x2), "=r"(x3)
               : "r"(address(as + t % 16 * 16 + t / 16 * 8)));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(y0), "=r"(y1) : "r"(address(bs + t % 16 * 8)));
  float d[4] = {0, 0, 0, 0};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(x0), "r"(x1), "r"(x2), "r"(x3), "r"(y0), "r"(y1));
  for (int i = 0; i < 4; i++) c[(t / 4 + i / 2 * 8) * 8 + t % 4 * 2 + i % 2] = d[i];
}

KERNEL to_fp8(u16 *e4m3, u16 *e5m2, const float *in) {
  u32 i = AT;
  float x = in[2 * i], y = in[2 * i + 1];
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(e4m3[i]) : "f"(y), "f"(x));
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(e5m2[i]) : "f"(y), "f"(x));
}

KERNEL video(int *out, const u32 *a, const u32 *b) {
  u32 i = AT, x = a[i], y = b[i], distance, low;
  int most, product;
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(distance) : "r"(x), "r"(y), "r"(i));
  asm("vmax2.s32.s32.s32 %0, %1, %2, %3;" : "=r"(most) : "r"(x), "r"(y), "r"(0));
  asm("vadd.u32.u32.u32 %0, %1.b1, %2.h1;" : "=r"(low) : "r"(x), "r"(y));
  asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(product) : "r"(x), "r"(y), "r"(-7));
  out[4 * i] = distance, out[4 * i + 1] = most, out[4 * i + 2] = low, out[4 * i + 3] = product;
}

KERNEL radix_sort(u32 *keys) {  // 256 keys of 16 bits, a bit at a time
  SHARED u32 moved[256];
  SHARED u32 ones[8];
  u32 t = T, key = keys[t];
  for (int bit = 0; bit < 16; bit++) {
    u32 one = key >> bit & 1, set = __nvvm_vote_ballot_sync(ALL, one);
    u32 before = __builtin_popcount(set & ((1u << t % 32) - 1)), total = 0;
    if (t % 32 == 0) ones[t / 32] = __builtin_popcount(set);
    SYNC;
    for (u32 w = 0; w < 8; w++) {
      if (w < t / 32) before += ones[w];
      total += ones[w];
    }
    moved[one ? 256 - total + before : t - before] = key;
    SYNC;
    key = moved[t];
  }
  keys[t] = key;
}

static DEVICE __attribute__((noinline)) int twice(int x) { return 2 * x; }
static DEVICE __attribute__((noinline)) int square(int x) { return x * x; }
static DEVICE __attribute__((noinline)) int negated(int x) { return -x; }

KERNEL by_pointer(int *out, const int *in) {
  int (*const table[])(int) = {twice, square, negated};
  out[AT] = table[in[AT] % 3](in[AT]);
}

static DEVICE __attribute__((noinline)) void quicksort(int *x, int low, int high) {
  if (low >= high) return;
  int pivot = x[(low + high) / 2], i = low, j = high;
  while (i <= j) {
    while (x[i] < pivot) i++;
    while (x[j] > pivot) j--;
    if (i <= j) {
      int old = x[i];
      x[i++] = x[j], x[j--] = old;
    }
  }
  quicksort(x, low, j);
  quicksort(x, i, high);
}

KERNEL sort_own(int *data) {  // every thread 12 numbers, in local memory, by recursion
  int mine[12];
  for (int i = 0; i < 12; i++) mine[i] = data[12 * AT + i];
  quicksort(mine, 0, 11);
  for (int i = 0; i < 12; i++) data[12 * AT + i] = mine[i];
}

CONSTANT u8 code[32];

KERNEL bytecode(int *out, const int *in) {  // a stack machine; its program is set before
  int stack[8], top = 0;
  for (int at = 0; at < 32; at++) {
    switch (code[at]) {
      case 0: out[AT] = stack[top - 1]; return;
      case 1: stack[top++] = in[AT]; break;
      case 2: stack[top - 2] += stack[top - 1], top--; break;
      case 3: stack[top - 2] *= stack[top - 1], top--; break;
      case 4: stack[top] = stack[top - 1], top++; break;
      case 5: stack[top - 1] = -stack[top - 1]; break;
      case 6: if (stack[top - 1] & 1) at += code[at + 1]; else at++; break;
      case 7: stack[top++] = code[++at]; break;
    }
  }
}

KERNEL atomics(double *sum, int *most, u32 *wheel, float *least, const float *x, int n) {
  u32 i = AT;
  if (i >= n) return;
  double old;
  asm volatile("atom.global.add.f64 %0, [%1], %2;" : "=d"(old) : "l"(sum), "d"((double)x[i]) : "memory");
  __atomic_fetch_max(most, (int)x[i], __ATOMIC_RELAXED);
  u32 seen;
  asm volatile("atom.global.inc.u32 %0, [%1], 6;" : "=r"(seen) : "l"(wheel) : "memory");
  u32 *bits = (u32 *)least, found = __atomic_load_n(bits, __ATOMIC_RELAXED);
  while (__builtin_bit_cast(float, found) > x[i] &&
         !__atomic_compare_exchange_n(bits, &found, __builtin_bit_cast(u32, x[i]), false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

KERNEL counted_words(int *counts, const int *words) {  // one atomic for lanes of one word
  int word = words[AT];
  u32 peers;
  asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(peers) : "r"(word));
  if (T % 32 == __builtin_ctz(peers)) __atomic_fetch_add(counts + word, __builtin_popcount(peers), __ATOMIC_RELAXED);
}

KERNEL solve(double *x, const double *m) {  // Gauss and Jordan: 16 equations, a warp a system
  SHARED double a[16][17];
  u32 t = T;
  for (u32 i = t; i < 16 * 17; i += 32) a[i / 17][i % 17] = m[__nvvm_read_ptx_sreg_ctaid_x() * 272 + i];
  SYNC;
  for (int k = 0; k < 16; k++) {
    double scale = 1 / a[k][k];
    SYNC;
    if (t < 17) a[k][t] *= scale;
    SYNC;
    double factor = t < 16 ? a[t][k] : 0;
    SYNC;
    if (t < 16 && t != k)
      for (int j = k; j < 17; j++) a[t][j] -= factor * a[k][j];
    SYNC;
  }
  if (t < 16) x[__nvvm_read_ptx_sreg_ctaid_x() * 16 + t] = a[t][16];
}

KERNEL bits(u32 *out, const u32 *in) {
  u32 i = AT, x = in[i], y = in[i ^ 1], r;
  r = __builtin_bitreverse32(x) ^ __builtin_popcount(y) ^ __builtin_rotateleft32(x, i);
  asm("{ .reg .u32 a, b, c;\n\tprmt.b32 a, %1, %2, 0x5140;\n\tbfe.u32 b, %1, 5, 11;\n\t"
      "bfi.b32 c, b, %2, 9, 11;\n\tshf.l.wrap.b32 b, %1, %2, 7;\n\tlop3.b32 %0, a, b, c, 0x96;\n\t}"
      : "=r"(y) : "r"(x), "r"(y));
  u32 top;
  asm("bfind.u32 %0, %1;" : "=r"(top) : "r"(x >> i % 31));
  out[i] = r + y * 31 + top;
}

extern "C" DEVICE int vprintf(const char *, const char *);

KERNEL said(const int *x) {
  struct { int thread; double value; } args = {(int)T, x[T] / 2.0};
  if (x[T] > 5) vprintf("%d has %.1f\n", (const char *)&args);
}

KERNEL ring(int *out, const int *in, int tiles) {  // two stages; copies arrive at mbarriers
  SHARED __attribute__((aligned(16))) int stage[2][4 * 64];
  SHARED u64 full[2];
  u32 t = T;
  if (t < 2) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(address(full + t)) : "memory");
  SYNC;
  for (int k = -1; k < tiles; k++) {
    if (k + 1 < tiles) {
      int s = (k + 1) % 2;
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address(stage[s] + 4 * t)), "l"(in + (k + 1) * 256 + 4 * t) : "memory");
      asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(address(full + s)) : "memory");
    }
    if (k < 0) continue;
    u32 done = 0;
    while (!done)
      asm volatile("{ .reg .pred p;\n\tmbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p; }"
                   : "=r"(done) : "r"(address(full + k % 2)), "r"(k / 2 % 2) : "memory");
    for (int j = 0; j < 4; j++) out[k * 256 + 64 * j + t] = stage[k % 2][255 - 64 * j - t];
    SYNC;
  }
}
