//! axpy from Rust, through the C interface alone:
//!
//!     tkc ../kernels.tk --target=sm_80,sm_90a,cpu -o kernels.o
//!     cc -c ../memory.c -o memory.o
//!     rustc main.rs -C link-args="kernels.o memory.o -ldl -Wl,-rpath,PREFIX/lib" \
//!         -L PREFIX/lib -l tkcrt -o app
//!     ./app cpu        (or cuda)
//!
//! The rpath says where libtkcrt.so.1 is; where the dynamic linker finds it, none is needed.

use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int, c_void};
use std::mem::{size_of, zeroed};
use std::ptr::{null, null_mut};

// <tkc/runtime.h>, as much of it as is needed. Every descriptor begins with its size.
const TKC_CUDA: u32 = 1;
const TKC_CPU: u32 = 3;
const TKC_BORROW: u32 = 1;
const TKC_TENSOR: u32 = 1;
const TKC_SCALAR: u32 = 3;
const TKC_F32: u16 = 12;

#[repr(C)]
struct Error { size: u32, status: i32, driver_code: i32, earlier_async: u32, text: [c_char; 496] }

#[repr(C)]
struct DriverDesc {
    size: u32, backend: u32,
    resolve: *const c_void, alloc: *const c_void, free: *const c_void, log: *const c_void, on_submit: *const c_void,
    user: *mut c_void, flags: u32,
}

#[repr(C)]
struct BundleDesc {
    size: u32, flags: u32, data: *const u8, bytes: usize, json: *const c_char, json_bytes: usize, sha256: *const u8,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Tensor {
    data: *mut c_void, extents: *const i64, strides: *const i64, span_bytes: u64, dtype: u16, rank: u16, reserved: u32,
}

#[repr(C)]
union Value { tensor: Tensor, bits: u64, f32: f32 }

#[repr(C)]
struct Arg { kind: u32, dtype: u32, value: Value }

#[repr(C)]
struct Launch {
    size: u32, variant: i32, function: *mut c_void, grid: [u32; 3], block: [u32; 3], cluster: [u32; 3],
    dynamic_smem: u32, flags: u32, param_bytes: u32, params: *mut c_void, param_capacity: u32,
}

#[repr(C, align(128))]
struct Params([u8; 256]);

extern "C" {
    fn tkc_status_name(status: i32) -> *const c_char;
    fn tkc_driver_open(desc: *const DriverDesc, driver: *mut *mut c_void, error: *mut Error) -> i32;
    fn tkc_bundle_open(driver: *mut c_void, desc: *const BundleDesc, bundle: *mut *mut c_void, error: *mut Error) -> i32;
    fn tkc_kernel_prepare(bundle: *mut c_void, name: *const c_char, constants: *const c_void, count: u32, abi_hash: u64,
                          desc: *const c_void, kernel: *mut *mut c_void, error: *mut Error) -> i32;
    fn tkc_encode(kernel: *const c_void, args: *const Arg, count: u32, options: *const c_void, launch: *mut Launch,
                  error: *mut Error) -> i32;
    fn tkc_submit(kernel: *const c_void, launch: *const Launch, stream: *mut c_void, error: *mut Error) -> i32;
    fn tkc_kernel_release(kernel: *mut c_void);
    fn tkc_bundle_release(bundle: *mut c_void);
    fn tkc_driver_release(driver: *mut c_void);

    static tkc_bundle_kernels: u8;
    static tkc_bundle_kernels_end: u8;

    fn memory_open(device: *const c_char) -> c_int;
    fn memory_alloc(bytes: usize) -> *mut c_void;
    fn memory_free(memory: *mut c_void);
    fn memory_upload(device: *mut c_void, host: *const c_void, bytes: usize) -> c_int;
    fn memory_download(host: *mut c_void, device: *const c_void, bytes: usize) -> c_int;
}

/// The loader's answer as a `Result`.
fn check(call: impl FnOnce(*mut Error) -> i32) -> Result<(), String> {
    unsafe {
        let mut error: Error = zeroed();
        error.size = size_of::<Error>() as u32;
        match call(&mut error) {
            0 => Ok(()),
            status => Err(format!("{}: {}", CStr::from_ptr(tkc_status_name(status)).to_string_lossy(),
                                  CStr::from_ptr(error.text.as_ptr()).to_string_lossy())),
        }
    }
}

fn vector(data: *mut c_void, extents: &[i64; 1]) -> Arg {
    let tensor = Tensor { data, extents: extents.as_ptr(), strides: null(), span_bytes: 0, dtype: TKC_F32, rank: 1, reserved: 0 };
    Arg { kind: TKC_TENSOR, dtype: 0, value: Value { tensor } }
}

unsafe fn run(device: &str) -> Result<usize, String> {
    const COUNT: usize = 100_000;
    let name = CString::new(device).unwrap();
    if memory_open(name.as_ptr()) != 0 {
        return Err("no memory of the device".into());
    }
    let mut desc: DriverDesc = zeroed();
    desc.size = size_of::<DriverDesc>() as u32;
    desc.backend = if device == "cpu" { TKC_CPU } else { TKC_CUDA };
    let first: *const u8 = &tkc_bundle_kernels;
    let end: *const u8 = &tkc_bundle_kernels_end;
    let embedded = BundleDesc {
        size: size_of::<BundleDesc>() as u32, flags: TKC_BORROW, data: first, bytes: end as usize - first as usize,
        json: null(), json_bytes: 0, sha256: null(),
    };
    let (mut driver, mut bundle, mut kernel) = (null_mut(), null_mut(), null_mut());
    check(|e| tkc_driver_open(&desc, &mut driver, e))?;
    check(|e| tkc_bundle_open(driver, &embedded, &mut bundle, e))?;
    let axpy = CString::new("axpy").unwrap();
    check(|e| tkc_kernel_prepare(bundle, axpy.as_ptr(), null(), 0, 0, null(), &mut kernel, e))?;

    let x: Vec<f32> = (0..COUNT).map(|i| (i % 1000) as f32).collect();
    let mut y = vec![1.0f32; COUNT];
    let bytes = COUNT * size_of::<f32>();
    let (dx, dy) = (memory_alloc(bytes), memory_alloc(bytes));
    if dx.is_null() || dy.is_null() || memory_upload(dx, x.as_ptr().cast(), bytes) != 0
        || memory_upload(dy, y.as_ptr().cast(), bytes) != 0 {
        return Err("no memory of the device".into());
    }
    let extents = [COUNT as i64];
    let args = [Arg { kind: TKC_SCALAR, dtype: TKC_F32 as u32, value: Value { f32: 2.0 } },
                vector(dx, &extents), vector(dy, &extents)];
    let mut params = Params([0; 256]);
    let mut launch: Launch = zeroed();
    launch.size = size_of::<Launch>() as u32;
    launch.params = params.0.as_mut_ptr().cast();
    launch.param_capacity = params.0.len() as u32;
    check(|e| tkc_encode(kernel, args.as_ptr(), 3, null(), &mut launch, e))?;
    check(|e| tkc_submit(kernel, &launch, null_mut(), e))?;
    if memory_download(y.as_mut_ptr().cast(), dy, bytes) != 0 {
        return Err("the result could not be read".into());
    }
    let wrong = x.iter().zip(&y).filter(|(x, y)| **y != 2.0 * **x + 1.0).count();
    println!("axpy on {device}, variant {}: {wrong} of {COUNT} wrong", launch.variant);

    memory_free(dx);
    memory_free(dy);
    tkc_kernel_release(kernel);
    tkc_bundle_release(bundle);
    tkc_driver_release(driver);
    Ok(wrong)
}

fn main() {
    let device = std::env::args().nth(1).unwrap_or("cpu".into());
    match unsafe { run(&device) } {
        Ok(0) => {}
        Ok(_) => std::process::exit(1),
        Err(text) => {
            eprintln!("{text}");
            std::process::exit(1)
        }
    }
}
