/* A CUDA driver that writes what it is asked to standard output.
 *
 * The sizes of a kernel's parameters are in the environment, PARAMETERS="8 8 4", and each is shown
 * as its bytes. A tensor map is filled with what it was made of.
 */
#define cuMemAlloc cuMemAlloc_unused
#include <cuda.h>
#undef cuMemAlloc
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CUresult cuInit(unsigned flags) { return flags; }
CUresult cuCtxGetDevice(CUdevice *device) {
  *device = 3;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device) {
  printf("of device %d\n", device);
  *value = which == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT ? 3 : -1;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice *device, int ordinal) { *device = ordinal; return CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  *context = (CUcontext)context;
  return device;
}
CUresult cuCtxSetCurrent(CUcontext context) { return context ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN; }
CUresult cuGetErrorName(CUresult status, const char **name) {
  *name = status == CUDA_ERROR_INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE" : "?";
  return CUDA_SUCCESS;
}
CUresult cuMemAlloc_v2(CUdeviceptr *made, size_t size) {
  *made = (CUdeviceptr)aligned_alloc(256, (size + 255) / 256 * 256);
  return CUDA_SUCCESS;
}
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
  for (size_t i = 0; i < count; i++) ((unsigned short *)to)[i] = value;
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size) {
  memcpy(to, (void *)from, size);
  return CUDA_SUCCESS;
}
CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  printf("load %.4s\n", (const char *)image + 1);
  *module = (CUmodule)image;
  return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) { return module ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN; }
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  printf("function %s\n", name);
  *function = (CUfunction)module;
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value) {
  printf("attribute %d %d\n", which, value);
  return function ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

static void parameters_of(void **parameters) {
  char *sizes = strdup(getenv("PARAMETERS"));
  for (char *size = strtok(sizes, " "); size; size = strtok(NULL, " "), parameters++) {
    printf("parameter ");
    for (int i = 0; i < atoi(size); i++) printf("%02x", ((unsigned char *)*parameters)[i]);
    printf("\n");
  }
  printf("end %d\n", *parameters == NULL);
  free(sizes);
}

CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CUstream stream, void **given,
                        void **extra) {
  printf("launch %u %u %u %u %u %u %u %zu\n", gx, gy, gz, bx, by, bz, shared, (size_t)stream);
  parameters_of(given);
  return function && !extra ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **given,
                          void **extra) {
  printf("cluster %u %u %u %u\n", config->numAttrs, config->attrs->value.clusterDim.x,
         config->attrs->value.clusterDim.y, config->attrs->value.clusterDim.z);
  return cuLaunchKernel(function, config->gridDimX, config->gridDimY, config->gridDimZ,
                        config->blockDimX, config->blockDimY, config->blockDimZ,
                        config->sharedMemBytes, config->hStream, given, extra);
}
CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                void *address, const cuuint64_t *extents,
                                const cuuint64_t *strides, const cuuint32_t *box,
                                const cuuint32_t *steps, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill) {
  printf("map %d %u %d %d %d %d", type, rank, interleave, swizzle, promotion, fill);
  for (unsigned i = 0; i < rank; i++)
    printf(" %llu %llu %u %u", (unsigned long long)extents[i],
           i + 1 < rank ? (unsigned long long)strides[i] : 0ull, box[i], steps[i]);
  printf("\n");
  memset(map, 0, sizeof *map);
  memcpy(map, &address, sizeof address);
  return (size_t)address % 16 || (size_t)map % 64 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
