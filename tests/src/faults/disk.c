/*
 * Makes the disk of one process full or slow, as a control file says at each call:
 *
 *   full      what would make a file longer or write into it fails with ENOSPC
 *   slow MS   fsync and fdatasync take so many milliseconds longer, and so do some writes
 *
 * Anything else leaves the disk as it is. FAULTY_DISK_CONTROL names the control file. Writes fail
 * only in regular files whose path holds FAULTY_DISK_FULL, and are slow only where it holds
 * FAULTY_DISK_SLOW.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static void read_control(char *order, size_t size)
{
    const char *path = getenv("FAULTY_DISK_CONTROL");
    int saved = errno;
    ssize_t count = 0;
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        count = read(fd, order, size - 1);
        close(fd);
    }
    order[count > 0 ? count : 0] = 0;
    errno = saved;
}

static int is_meant(const char *variable, int fd)
{
    const char *part = getenv(variable);
    struct stat status;
    char link[64], path[4096];
    if (!part || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t count = readlink(link, path, sizeof path - 1);
    if (count < 0)
        return 0;
    path[count] = 0;
    return strstr(path, part) != NULL;
}

static void be_slow(const char *order)
{
    long milliseconds = 0;
    if (sscanf(order, "slow %ld", &milliseconds) == 1) {
        struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000 };
        while (nanosleep(&time, &time) != 0 && errno == EINTR)
            ;
    }
}

/* Before a write: waits where that is slow, and tells whether it is to fail. */
static int is_full(int fd)
{
    char order[32];
    int saved = errno;
    read_control(order, sizeof order);
    int full = strncmp(order, "full", 4) == 0 && is_meant("FAULTY_DISK_FULL", fd);
    if (strncmp(order, "slow", 4) == 0 && is_meant("FAULTY_DISK_SLOW", fd))
        be_slow(order);
    errno = full ? ENOSPC : saved;
    return full;
}

static void before_sync(void)
{
    char order[32];
    int saved = errno;
    read_control(order, sizeof order);
    be_slow(order);
    errno = saved;
}

/* Calls the function of the same name that would have been called without us. */
#define THE_REAL(result, name, types, arguments)                                                   \
    static result(*real) types;                                                                    \
    if (!real)                                                                                     \
        real = (result(*) types)dlsym(RTLD_NEXT, #name);                                           \
    return real arguments

#define FAILS_WHEN_FULL(result, name, types, arguments)                                            \
    result name types                                                                              \
    {                                                                                              \
        if (is_full(fd))                                                                           \
            return -1;                                                                             \
        THE_REAL(result, name, types, arguments);                                                  \
    }

FAILS_WHEN_FULL(ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size))
FAILS_WHEN_FULL(ssize_t, writev, (int fd, const struct iovec *parts, int count), (fd, parts, count))
FAILS_WHEN_FULL(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at))
FAILS_WHEN_FULL(ssize_t, pwrite64, (int fd, const void *data, size_t size, off64_t at), (fd, data, size, at))
FAILS_WHEN_FULL(ssize_t, pwritev, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))
FAILS_WHEN_FULL(ssize_t, pwritev64, (int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at))
FAILS_WHEN_FULL(int, ftruncate, (int fd, off_t size), (fd, size))
FAILS_WHEN_FULL(int, ftruncate64, (int fd, off64_t size), (fd, size))
FAILS_WHEN_FULL(int, fallocate, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size))
FAILS_WHEN_FULL(int, fallocate64, (int fd, int mode, off64_t at, off64_t size), (fd, mode, at, size))

/* These two give the error itself. */
int posix_fallocate(int fd, off_t at, off_t size)
{
    if (is_full(fd))
        return ENOSPC;
    THE_REAL(int, posix_fallocate, (int fd, off_t at, off_t size), (fd, at, size));
}

int posix_fallocate64(int fd, off64_t at, off64_t size)
{
    if (is_full(fd))
        return ENOSPC;
    THE_REAL(int, posix_fallocate64, (int fd, off64_t at, off64_t size), (fd, at, size));
}

int fsync(int fd)
{
    before_sync();
    THE_REAL(int, fsync, (int fd), (fd));
}

int fdatasync(int fd)
{
    before_sync();
    THE_REAL(int, fdatasync, (int fd), (fd));
}
