/* Faults of a disk and of a process, at one call that changes files (LD_PRELOAD).

   Calls are counted that change what is in a folder: writes, new files, new names,
   removals. At the call of a chosen number the disk is full from then on for a while,
   the process is killed, or it stops, so that another one can write meanwhile.  */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { COUNT, FULL_ONCE, FULL, KILL, TORN, STOP };

static char folder[PATH_MAX];
static int mode;
static long chosen;
static atomic_long calls;
static atomic_long *counted; /* Of the last process without a fault, also for its parent. */

__attribute__((constructor)) static void share(void)
{
    counted = mmap(NULL, sizeof *counted, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

void faults_arm(const char *path, int how, long number)
{
    strncpy(folder, path, sizeof folder - 1);
    mode = how;
    chosen = number;
    atomic_store(&calls, 0);
    if (mode == COUNT)
        atomic_store(counted, 0);
}

long faults_calls(void) { return atomic_load(counted); }

static int is_inside(const char *path)
{
    char whole[PATH_MAX];
    if (!folder[0] || !path)
        return 0;
    if (path[0] != '/') {
        if (!getcwd(whole, sizeof whole))
            return 0;
        path = whole;
    }
    size_t size = strlen(folder);
    return strncmp(path, folder, size) == 0 && (!path[size] || path[size] == '/');
}

static int is_of(int file)
{
    char link[64], path[PATH_MAX];
    if (!folder[0])
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0)
        return 0;
    path[size] = 0;
    return is_inside(path);
}

/* Return whether the call fails; `needs_space`: it takes space on the disk. */
static int fails(int needs_space, int file, const void *data, size_t size)
{
    long number = atomic_fetch_add(&calls, 1) + 1;
    if (mode == COUNT)
        atomic_fetch_add(counted, 1);
    if (mode == FULL && number > chosen && needs_space) {
        errno = ENOSPC;
        return 1;
    }
    if (number != chosen)
        return 0;
    if (mode == KILL)
        raise(SIGKILL);
    if (mode == TORN) {
        ssize_t (*plain)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
        if (data && size > 1)
            plain(file, data, size / 2);
        raise(SIGKILL);
    }
    if (mode == STOP)
        raise(SIGSTOP);
    if ((mode == FULL || mode == FULL_ONCE) && needs_space) {
        errno = ENOSPC;
        return 1;
    }
    return 0;
}

#define PLAIN(name) static __typeof__(&name) plain; \
    if (!plain) plain = dlsym(RTLD_NEXT, #name)

ssize_t write(int file, const void *data, size_t size)
{
    PLAIN(write);
    if (is_of(file) && fails(1, file, data, size))
        return -1;
    return plain(file, data, size);
}

ssize_t pwrite64(int file, const void *data, size_t size, off64_t at)
{
    PLAIN(pwrite64);
    if (is_of(file) && fails(1, file, data, size))
        return -1;
    return plain(file, data, size, at);
}

ssize_t pwrite(int file, const void *data, size_t size, off_t at)
{
    PLAIN(pwrite);
    if (is_of(file) && fails(1, file, data, size))
        return -1;
    return plain(file, data, size, at);
}

ssize_t writev(int file, const struct iovec *parts, int count)
{
    PLAIN(writev);
    if (is_of(file) && fails(1, file, NULL, 0))
        return -1;
    return plain(file, parts, count);
}

int ftruncate64(int file, off64_t size)
{
    PLAIN(ftruncate64);
    if (is_of(file) && fails(size > 0, file, NULL, 0))
        return -1;
    return plain(file, size);
}

int fsync(int file)
{
    PLAIN(fsync);
    if (is_of(file) && fails(1, file, NULL, 0))
        return -1;
    return plain(file);
}

int rename(const char *from, const char *to)
{
    PLAIN(rename);
    if (is_inside(to) && fails(1, -1, NULL, 0))
        return -1;
    return plain(from, to);
}

int mkdir(const char *path, mode_t rights)
{
    PLAIN(mkdir);
    if (is_inside(path) && fails(1, -1, NULL, 0))
        return -1;
    return plain(path, rights);
}

int unlink(const char *path)
{
    PLAIN(unlink);
    if (is_inside(path))
        fails(0, -1, NULL, 0);
    return plain(path);
}

int rmdir(const char *path)
{
    PLAIN(rmdir);
    if (is_inside(path))
        fails(0, -1, NULL, 0);
    return plain(path);
}

int unlinkat(int above, const char *path, int flags)
{
    PLAIN(unlinkat);
    if (path[0] == '/' ? is_inside(path) : is_of(above))
        fails(0, -1, NULL, 0);
    return plain(above, path, flags);
}

#define OPENED(name) \
    mode_t rights = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { \
        va_list more; \
        va_start(more, flags); \
        rights = va_arg(more, mode_t); \
        va_end(more); \
    } \
    PLAIN(name); \
    int changes = flags & (O_CREAT | O_TRUNC)

int open64(const char *path, int flags, ...)
{
    OPENED(open64);
    if (changes && is_inside(path) && fails(1, -1, NULL, 0))
        return -1;
    return plain(path, flags, rights);
}

int open(const char *path, int flags, ...)
{
    OPENED(open);
    if (changes && is_inside(path) && fails(1, -1, NULL, 0))
        return -1;
    return plain(path, flags, rights);
}

int openat64(int above, const char *path, int flags, ...)
{
    OPENED(openat64);
    if (changes && is_inside(path) && fails(1, -1, NULL, 0))
        return -1;
    return plain(above, path, flags, rights);
}
