"""What kernels need of numba's runtime, above all memory for arrays, as LLVM code that is part of every program."""

__all__ = ["RUNTIME"]

RUNTIME = """
declare ptr @malloc(i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)

; A block starts with what numba expects: references, destructor, its argument, data, size.
define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %wide = zext i32 %align to i64
  %header = add i64 %wide, 48
  %total = add i64 %size, %header
  %overflow = icmp ult i64 %total, %size
  br i1 %overflow, label %failed, label %allocate
allocate:
  %block = call ptr @malloc(i64 %total)
  %none = icmp eq ptr %block, null
  br i1 %none, label %failed, label %found
found:
  %start = ptrtoint ptr %block to i64
  %past = add i64 %start, %header
  %rest = urem i64 %past, %wide
  %address = sub i64 %past, %rest
  %data = inttoptr i64 %address to ptr
  store i64 1, ptr %block
  %place1 = getelementptr i64, ptr %block, i64 1
  store ptr null, ptr %place1
  %place2 = getelementptr i64, ptr %block, i64 2
  store ptr null, ptr %place2
  %place3 = getelementptr i64, ptr %block, i64 3
  store ptr %data, ptr %place3
  %place4 = getelementptr i64, ptr %block, i64 4
  store i64 %size, ptr %place4
  ret ptr %block
failed:
  ret ptr null
}

define ptr @NRT_MemInfo_alloc_safe_aligned(i64 %size, i32 %align) {
  %block = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align)
  ret ptr %block
}

; The last reference is gone: call the destructor, if there is one, and free the block.
define void @NRT_MemInfo_call_dtor(ptr %block) {
  %place1 = getelementptr i64, ptr %block, i64 1
  %destructor = load ptr, ptr %place1
  %none = icmp eq ptr %destructor, null
  br i1 %none, label %done, label %destroy
destroy:
  %place2 = getelementptr i64, ptr %block, i64 2
  %info = load ptr, ptr %place2
  %place3 = getelementptr i64, ptr %block, i64 3
  %data = load ptr, ptr %place3
  %place4 = getelementptr i64, ptr %block, i64 4
  %size = load i64, ptr %place4
  call void %destructor(ptr %data, i64 %size, ptr %info)
  br label %done
done:
  call void @free(ptr %block)
  ret void
}

; Blocks whose data can grow, for lists: the data is allocated apart, and freed by this destructor.
define internal void @discreet_free_data(ptr %data, i64 %size, ptr %info) {
  %none = icmp eq ptr %info, null
  br i1 %none, label %done, label %destroy
destroy:
  call void %info(ptr %data, i64 %size, ptr null)
  br label %done
done:
  call void @free(ptr %data)
  ret void
}

define ptr @NRT_MemInfo_new_varsize_dtor(i64 %size, ptr %destructor) {
  %data = call ptr @malloc(i64 %size)
  %none = icmp eq ptr %data, null
  br i1 %none, label %failed, label %allocate
allocate:
  %block = call ptr @malloc(i64 48)
  %nothing = icmp eq ptr %block, null
  br i1 %nothing, label %failed, label %found
found:
  store i64 1, ptr %block
  %place1 = getelementptr i64, ptr %block, i64 1
  store ptr @discreet_free_data, ptr %place1
  %place2 = getelementptr i64, ptr %block, i64 2
  store ptr %destructor, ptr %place2
  %place3 = getelementptr i64, ptr %block, i64 3
  store ptr %data, ptr %place3
  %place4 = getelementptr i64, ptr %block, i64 4
  store i64 %size, ptr %place4
  ret ptr %block
failed:
  ret ptr null
}

define ptr @NRT_MemInfo_new_varsize(i64 %size) {
  %block = call ptr @NRT_MemInfo_new_varsize_dtor(i64 %size, ptr null)
  ret ptr %block
}

define ptr @NRT_MemInfo_varsize_alloc(ptr %block, i64 %size) {
  %data = call ptr @malloc(i64 %size)
  %none = icmp eq ptr %data, null
  br i1 %none, label %done, label %found
found:
  %place3 = getelementptr i64, ptr %block, i64 3
  store ptr %data, ptr %place3
  %place4 = getelementptr i64, ptr %block, i64 4
  store i64 %size, ptr %place4
  br label %done
done:
  ret ptr %data
}

define ptr @NRT_MemInfo_varsize_realloc(ptr %block, i64 %size) {
  %place3 = getelementptr i64, ptr %block, i64 3
  %old = load ptr, ptr %place3
  %data = call ptr @realloc(ptr %old, i64 %size)
  %none = icmp eq ptr %data, null
  br i1 %none, label %done, label %found
found:
  store ptr %data, ptr %place3
  %place4 = getelementptr i64, ptr %block, i64 4
  store i64 %size, ptr %place4
  br label %done
done:
  ret ptr %data
}

define void @NRT_MemInfo_varsize_free(ptr %block, ptr %data) {
  call void @free(ptr %data)
  %place3 = getelementptr i64, ptr %block, i64 3
  %own = load ptr, ptr %place3
  %same = icmp eq ptr %own, %data
  br i1 %same, label %forget, label %done
forget:
  store ptr null, ptr %place3
  br label %done
done:
  ret void
}

define ptr @NRT_MemInfo_alloc(i64 %size) {
  %block = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 16)
  ret ptr %block
}

define ptr @NRT_Allocate(i64 %size) {
  %block = call ptr @malloc(i64 %size)
  ret ptr %block
}

define ptr @NRT_Reallocate(ptr %block, i64 %size) {
  %moved = call ptr @realloc(ptr %block, i64 %size)
  ret ptr %moved
}

define void @NRT_Free(ptr %block) {
  call void @free(ptr %block)
  ret void
}

declare void @NRT_decref(ptr)

declare double @nextafter(double, double)

define double @numba_nextafter(double %from, double %to) {
  %next = call double @nextafter(double %from, double %to)
  ret double %next
}

; The strides of a reshaped array in C order; numba calls it for contiguous arrays, whose data need not move.
define i32 @numba_attempt_nocopy_reshape(i64 %n, ptr %dims, ptr %strides, i64 %newn, ptr %newdims, ptr %newstrides,
                                         i64 %itemsize, i32 %fortran) {
start:
  %f = icmp ne i32 %fortran, 0
  br i1 %f, label %refused, label %check
check:
  %i = phi i64 [ %n, %start ], [ %before, %checked ]
  %expected = phi i64 [ %itemsize, %start ], [ %wider, %checked ]
  %end = icmp eq i64 %i, 0
  br i1 %end, label %fill, label %compare
compare:
  %before = sub i64 %i, 1
  %dimplace = getelementptr i64, ptr %dims, i64 %before
  %dim = load i64, ptr %dimplace
  %strideplace = getelementptr i64, ptr %strides, i64 %before
  %stride = load i64, ptr %strideplace
  %wider = mul i64 %expected, %dim
  %one = icmp eq i64 %dim, 1
  %same = icmp eq i64 %stride, %expected
  %empty = icmp eq i64 %dim, 0
  %fine1 = or i1 %one, %same
  %fine = or i1 %fine1, %empty
  br i1 %fine, label %checked, label %refused
checked:
  br label %check
fill:
  %j = phi i64 [ %newn, %check ], [ %left, %next ]
  %step = phi i64 [ %itemsize, %check ], [ %larger, %next ]
  %last = icmp eq i64 %j, 0
  br i1 %last, label %made, label %next
next:
  %left = sub i64 %j, 1
  %outplace = getelementptr i64, ptr %newstrides, i64 %left
  store i64 %step, ptr %outplace
  %newplace = getelementptr i64, ptr %newdims, i64 %left
  %new = load i64, ptr %newplace
  %larger = mul i64 %step, %new
  br label %fill
made:
  ret i32 1
refused:
  ret i32 0
}

define void @discreet_release(ptr %block) {
  call void @NRT_decref(ptr %block)
  ret void
}
"""
