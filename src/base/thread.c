#include "base/thread.h"

#include <stdint.h>

int sp_thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
    pthread_attr_t how;
    int error = pthread_attr_init(&how);
    if (error)
        return error;
    error = pthread_attr_setstacksize(&how, SP_THREAD_STACK);
    if (!error)
        error = pthread_create(thread, &how, run, arg);
    pthread_attr_destroy(&how);
    return error;
}

bool sp_thread_has_room(size_t bytes)
{
    pthread_attr_t how;
    void *low;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &how))
        return true; /* nobody knows */
    bool known = !pthread_attr_getstack(&how, &low, &size);
    pthread_attr_destroy(&how);
    uintptr_t here = (uintptr_t)&how, from = (uintptr_t)low;
    return !known || here < from || here >= from + size || here - from >= bytes;
}
