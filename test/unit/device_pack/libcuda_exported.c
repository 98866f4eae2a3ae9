/* The driver of test/unit/runtime_cuda under the names that a program links to. */
#include "../runtime_cuda/libcuda.c"

int cuInit(unsigned flags) { return init(flags); }
int cuDriverGetVersion(int *v) { return version(v); }
int cuDeviceGet(int *device, int ordinal) { return get(device, ordinal); }
int cuDeviceGetName(char *text, int size, int device) { return name(text, size, device); }
int cuDeviceGetAttribute(int *value, int which, int device) { return attribute(value, which, device); }
int cuDevicePrimaryCtxRetain(void **context, int device) { return retain(context, device); }
int cuCtxSetCurrent(void *context) { return current(context); }
int cuCtxSynchronize(void) { return synchronize(); }
int cuModuleLoadDataEx(void **module, const char *image, unsigned n, const int *options,
                       void **values) {
  return load(module, image, n, options, values);
}
int cuModuleUnload(void *module) { return unload(module); }
int cuModuleGetFunction(void **found, const char *module, const char *name) {
  return function(found, module, name);
}
int cuFuncGetAttribute(int *value, int which, void *f) { return get_attribute(value, which, f); }
int cuFuncSetAttribute(void *f, int which, int value) { return set_attribute(f, which, value); }
int cuMemAlloc_v2(Address *address, size_t size) { return allocate(address, size); }
int cuMemFree_v2(Address address) { return release_memory(address); }
int cuMemcpyHtoD_v2(Address to, const void *from, size_t n) { return to_gpu(to, from, n); }
int cuMemcpyDtoH_v2(void *to, Address from, size_t n) { return to_host(to, from, n); }
int cuMemcpyDtoD_v2(Address to, Address from, size_t n) {
  return to_gpu(to, (void *)(size_t)from, n);
}
int cuMemsetD8_v2(Address to, unsigned char byte, size_t n) {
  memset((void *)(size_t)to, byte, n);
  return sticky;
}
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *queue, void **parameters, void **extra) {
  Config config = {{gx, gy, gz}, {bx, by, bz}, shared, queue, NULL, 0};
  return launch(&config, f, parameters, extra);
}
int cuEventCreate(void **made, unsigned flags) { return event(made, flags); }
int cuEventRecord(void *made, void *queue) { return made != (void *)88 || queue != NULL; }
int cuEventSynchronize(void *made) { return reached(made); }
int cuEventElapsedTime(float *ms, void *from, void *to) { return elapsed(ms, from, to); }
int cuGetErrorName(int status, const char **text) {
  *text = status == INVALID_PTX ? "CUDA_ERROR_INVALID_PTX"
          : status == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
          : status == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : NULL;
  return *text == NULL;
}
