/* A libcuda.so.1 of one GPU whose memory is the host's: what crosses the driver's C interface.
 *
 * Its only kernel is scale(float *y, const float *x, float factor). Kernels, launches and opt-ins
 * are reported on standard error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef unsigned long long Address;
typedef struct { unsigned id, pad, value[16]; } Attribute;
typedef struct {
  unsigned grid[3], block[3], shared;
  void *stream;
  Attribute *attributes;
  unsigned count;
} Config;

enum { ERROR_LOG = 5, ERROR_LOG_SIZE = 6, INFO_LOG = 3 };
enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_PTX = 218, ILLEGAL_ADDRESS = 700 };
enum { PAGE = 4096 }; /* precedes an allocation, and holds its size */
static int sticky;

static int init(unsigned flags) { return (int)flags; }
static int version(int *v) { *v = 13000; return 0; }
static int count(int *n) { *n = 1; return 0; }
static int get(int *device, int ordinal) { *device = ordinal; return 0; }
static int name(char *text, int size, int device) {
  return snprintf(text, size, "GPU of C %d", device) > size;
}
static int attribute(int *value, int which, int device) {
  switch (which) {
  case 75: *value = 9; break;               /* compute capability */
  case 76: *value = 0; break;
  case 5: *value = 0x7fffffff; break;       /* grid */
  case 6: case 7: *value = 65535; break;
  case 97: *value = 227 * 1024; break;      /* shared memory, opted in */
  default: *value = 1;
  }
  return device;
}
static int retain(void **context, int device) { *context = &sticky; return device; }
static int reset(int device) { sticky = 0; return device; }
static int release(int device) { return device; }
static int current(void *context) { return context == &sticky ? 0 : INVALID_VALUE; }
static int synchronize(void) { return sticky; }

static int load(void **module, const char *image, unsigned n, const int *options, void **values) {
  unsigned i;
  for (i = 0; i < n; i++)
    if (options[i] == INFO_LOG) strcpy(values[i], "assembled");
    else if (options[i] == ERROR_LOG && strstr(image, "wrong")) strcpy(values[i], "line 1: wrong");
    else if (options[i] == ERROR_LOG_SIZE && (size_t)values[i] < 1000) return INVALID_VALUE;
  *module = strdup(image);
  return strstr(image, "wrong") ? INVALID_PTX : 0;
}
static int unload(void *module) { free(module); return 0; }
static int function(void **function, const char *module, const char *name) {
  fprintf(stderr, "kernel %s\n", name);
  *function = (void *)module;
  return 0;
}
static int get_attribute(int *value, int which, void *function) {
  *value = which == 0 ? 1024 : which == 4 ? 40 : 0; /* threads, registers */
  return function == NULL;
}
static int set_attribute(void *function, int which, int value) {
  fprintf(stderr, "opt in %d %d\n", which, value);
  return function == NULL;
}
static int parameter(void *function, size_t index, size_t *offset, size_t *size) {
  *offset = 8 * index;
  *size = index < 2 ? 8 : 4;
  return index < 3 && function ? 0 : INVALID_VALUE;
}
static int occupancy(int *ctas, void *function, int threads, size_t shared) {
  *ctas = 2048 / threads - (int)(shared >> 16);
  return function == NULL;
}

static int allocate(Address *address, size_t size) {
  unsigned char *start;
  if (size > 1 << 30) return OUT_OF_MEMORY;
  /* malloc may give the heap, which is below 4 GiB in some processes. */
  start = mmap(NULL, PAGE + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return OUT_OF_MEMORY;
  memcpy(start, &size, sizeof size);
  *address = (Address)(size_t)(start + PAGE);
  return sticky;
}
static int release_memory(Address address) {
  unsigned char *start = (unsigned char *)(size_t)address - PAGE;
  size_t size;
  if (address == 0) return sticky;
  memcpy(&size, start, sizeof size);
  munmap(start, PAGE + size);
  return sticky;
}
static int memory(size_t *available, size_t *all) { *available = 4096; *all = 8192; return 0; }
static int to_gpu(Address to, const void *from, size_t n) {
  memcpy((void *)(size_t)to, from, n);
  return sticky;
}
static int to_host(void *to, Address from, size_t n) {
  memcpy(to, (void *)(size_t)from, n);
  return sticky;
}
static int to_gpu_on(Address to, const void *from, size_t n, void *stream) {
  return stream ? INVALID_VALUE : to_gpu(to, from, n);
}
static int to_host_on(void *to, Address from, size_t n, void *stream) {
  return stream ? INVALID_VALUE : to_host(to, from, n);
}

static int launch(const Config *config, void *function, void **parameters, void **extra) {
  float *y = *(float **)parameters[0], *x = *(float **)parameters[1];
  float factor = *(float *)parameters[2];
  unsigned i, n = config->grid[0] * config->block[0];
  fprintf(stderr, "launch grid %u %u %u block %u %u %u shared %u stream %zu", config->grid[0],
          config->grid[1], config->grid[2], config->block[0], config->block[1], config->block[2],
          config->shared, (size_t)config->stream);
  for (i = 0; i < config->count; i++)
    fprintf(stderr, " attribute %u: %u %u %u", config->attributes[i].id,
            config->attributes[i].value[0], config->attributes[i].value[1],
            config->attributes[i].value[2]);
  fputc('\n', stderr);
  if (y == NULL) sticky = ILLEGAL_ADDRESS;
  else
    for (i = 0; i < n; i++) y[i] = factor * x[i];
  return function == NULL || extra != NULL;
}

static int stream(void **made, unsigned flags) { *made = (void *)77; return flags != 1; }
static int wait(void *stream) { return stream && stream != (void *)77 ? INVALID_VALUE : sticky; }
static int event(void **made, unsigned flags) { *made = (void *)88; return (int)flags; }
static int record(void *event, void *stream) { return event != (void *)88 || stream != (void *)77; }
static int reached(void *event) { return event != (void *)88; }
static int elapsed(float *ms, void *from, void *to) { *ms = 1.5f; return from != to; }

static const struct { const char *name; void *function; } functions[] = {
    {"cuInit", init}, {"cuDriverGetVersion", version}, {"cuDeviceGetCount", count},
    {"cuDeviceGet", get}, {"cuDeviceGetName", name}, {"cuDeviceGetAttribute", attribute},
    {"cuDevicePrimaryCtxRetain", retain}, {"cuDevicePrimaryCtxReset", reset},
    {"cuDevicePrimaryCtxRelease", release}, {"cuCtxSetCurrent", current},
    {"cuCtxSynchronize", synchronize}, {"cuModuleLoadDataEx", load}, {"cuModuleUnload", unload},
    {"cuModuleGetFunction", function}, {"cuFuncGetAttribute", get_attribute},
    {"cuFuncSetAttribute", set_attribute}, {"cuFuncGetParamInfo", parameter},
    {"cuOccupancyMaxActiveBlocksPerMultiprocessor", occupancy}, {"cuMemAlloc", allocate},
    {"cuMemFree", release_memory}, {"cuMemGetInfo", memory}, {"cuMemcpyHtoD", to_gpu},
    {"cuMemcpyDtoH", to_host}, {"cuMemcpyHtoDAsync", to_gpu_on},
    {"cuMemcpyDtoHAsync", to_host_on}, {"cuLaunchKernelEx", launch}, {"cuStreamCreate", stream},
    {"cuStreamSynchronize", wait}, {"cuEventCreate", event}, {"cuEventRecord", record},
    {"cuEventSynchronize", reached}, {"cuEventElapsedTime", elapsed},
};

int cuGetProcAddress_v2(const char *symbol, void **found, int version, unsigned long long flags,
                        int *status) {
  size_t i;
  *found = NULL;
  for (i = 0; i < sizeof functions / sizeof *functions; i++)
    if (!strcmp(functions[i].name, symbol)) *found = functions[i].function;
  if (status) *status = *found == NULL;
  return version < 0 && flags;
}
