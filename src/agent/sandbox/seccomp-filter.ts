/**
 * A seccomp filter for confined commands, as a program of classic BPF: the system calls that reach beyond a sandbox, or that
 * kernel exploits start from, are refused; everything else is allowed. Refused calls return EPERM, so that a program can
 * report them; `clone3`, whose flags a filter cannot read, returns ENOSYS, and the C library then uses `clone`.
 */

interface Architecture {
  /** AUDIT_ARCH_*: the calling convention. */
  readonly audit: number;
  /** System calls of x32 have this bit, and the numbers of their own kind. */
  readonly x32Bit?: number;
  /** seccomp(2), for the loader. */
  readonly seccomp: number;
  readonly clone: number;
  readonly unshare: number;
  readonly ioctl: number;
  readonly personality: number;
  readonly socket: number;
  readonly refused: Readonly<Record<string, number>>;
}

/** The same on every architecture. */
const NEW_CALLS = {
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  pidfd_getfd: 438,
  process_madvise: 440,
  mount_setattr: 442,
  quotactl_fd: 443,
  memfd_secret: 447,
} as const;
const CLONE3 = 435;

const X64: Architecture = {
  audit: 0xc000003e,
  x32Bit: 0x40000000,
  seccomp: 317,
  clone: 56,
  unshare: 272,
  ioctl: 16,
  personality: 135,
  socket: 41,
  refused: {
    ...NEW_CALLS,
    ptrace: 101,
    syslog: 103,
    uselib: 134,
    ustat: 136,
    sysfs: 139,
    vhangup: 153,
    modify_ldt: 154,
    pivot_root: 155,
    _sysctl: 156,
    adjtimex: 159,
    chroot: 161,
    acct: 163,
    settimeofday: 164,
    mount: 165,
    umount2: 166,
    swapon: 167,
    swapoff: 168,
    reboot: 169,
    iopl: 172,
    ioperm: 173,
    create_module: 174,
    init_module: 175,
    delete_module: 176,
    get_kernel_syms: 177,
    query_module: 178,
    quotactl: 179,
    nfsservctl: 180,
    lookup_dcookie: 212,
    clock_settime: 227,
    kexec_load: 246,
    add_key: 248,
    request_key: 249,
    keyctl: 250,
    perf_event_open: 298,
    fanotify_init: 300,
    name_to_handle_at: 303,
    open_by_handle_at: 304,
    clock_adjtime: 305,
    setns: 308,
    process_vm_readv: 310,
    process_vm_writev: 311,
    kcmp: 312,
    finit_module: 313,
    kexec_file_load: 320,
    bpf: 321,
    userfaultfd: 323,
  },
};

const ARM64: Architecture = {
  audit: 0xc00000b7,
  seccomp: 277,
  clone: 220,
  unshare: 97,
  ioctl: 29,
  personality: 92,
  socket: 198,
  refused: {
    ...NEW_CALLS,
    lookup_dcookie: 18,
    umount2: 39,
    mount: 40,
    pivot_root: 41,
    nfsservctl: 42,
    chroot: 51,
    vhangup: 58,
    quotactl: 60,
    acct: 89,
    kexec_load: 104,
    init_module: 105,
    delete_module: 106,
    clock_settime: 112,
    syslog: 116,
    ptrace: 117,
    reboot: 142,
    settimeofday: 170,
    adjtimex: 171,
    add_key: 217,
    request_key: 218,
    keyctl: 219,
    swapon: 224,
    swapoff: 225,
    perf_event_open: 241,
    fanotify_init: 262,
    name_to_handle_at: 264,
    open_by_handle_at: 265,
    clock_adjtime: 266,
    setns: 268,
    process_vm_readv: 270,
    process_vm_writev: 271,
    kcmp: 272,
    finit_module: 273,
    bpf: 280,
    userfaultfd: 282,
    kexec_file_load: 294,
  },
};

export const ARCHITECTURES: Readonly<Record<string, Architecture>> = { x64: X64, arm64: ARM64 };

/** NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const NEW_NAMESPACES = 0x7e020000;
/** NEWTIME; in `clone` this bit belongs to the exit signal. */
const NEW_TIME = 0x80;
/** TIOCSTI and TIOCLINUX type into the terminal; TIOCSETD loads a line discipline. */
const TERMINAL_INPUT = [0x5412, 0x541c, 0x5423];
/** Linux, with the 32-bit and the 2.6 flag, and the question for the current one. */
const PERSONALITIES = [0, 0x8, 0x20000, 0x20008, 0xffffffff];
/** Unix, IPv4, IPv6 and netlink. Others, such as vsock, reach the host from any network namespace. */
const SOCKET_FAMILIES = [1, 2, 10, 16];

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** The operations of classic BPF that are used here. */
const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const IF_ANY_BIT = 0x45;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const ERROR = 0x00050000;

/** Offsets in `struct seccomp_data`; of an argument its low half, which is all that these calls read. */
const NUMBER_AT = 0;
const ARCH_AT = 4;
const argumentAt = (index: number): number => 16 + 8 * index;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

const load = (offset: number): Instruction => [LOAD, 0, 0, offset];
const give = (action: number): Instruction => [RETURN, 0, 0, action];
/** When the test holds, the next instructions run; otherwise they are skipped. */
const when = (code: number, value: number, then: readonly Instruction[]): readonly Instruction[] => [
  [code, 0, then.length, value],
  ...then,
];
const refuseEach = (code: number, values: readonly number[]): readonly Instruction[] =>
  values.flatMap((value) => when(code, value, [give(ERROR | EPERM)]));
/** One of these values, or the error. */
const allowOnly = (values: readonly number[], error: number): readonly Instruction[] => [
  ...values.flatMap((value) => when(IF_EQUAL, value, [give(ALLOW)])),
  give(ERROR | error),
];

/** The program for a machine, as the kernel takes it; undefined for one whose system calls are not known here. */
export function createSeccompFilter(machine: string): Uint8Array | undefined {
  const arch = ARCHITECTURES[machine];
  if (arch === undefined) return undefined;
  const flags = (bits: number): readonly Instruction[] => [
    load(argumentAt(0)),
    ...refuseEach(IF_ANY_BIT, [bits]),
    give(ALLOW),
  ];
  const program: readonly Instruction[] = [
    load(ARCH_AT),
    [IF_EQUAL, 1, 0, arch.audit],
    give(ERROR | EPERM),
    load(NUMBER_AT),
    ...(arch.x32Bit === undefined ? [] : refuseEach(IF_AT_LEAST, [arch.x32Bit])),
    ...refuseEach(IF_EQUAL, Object.values(arch.refused)),
    ...when(IF_EQUAL, CLONE3, [give(ERROR | ENOSYS)]),
    ...when(IF_EQUAL, arch.clone, flags(NEW_NAMESPACES)),
    ...when(IF_EQUAL, arch.unshare, flags(NEW_NAMESPACES | NEW_TIME)),
    ...when(IF_EQUAL, arch.ioctl, [
      load(argumentAt(1)),
      ...refuseEach(IF_EQUAL, TERMINAL_INPUT),
      give(ALLOW),
    ]),
    ...when(IF_EQUAL, arch.personality, [load(argumentAt(0)), ...allowOnly(PERSONALITIES, EPERM)]),
    ...when(IF_EQUAL, arch.socket, [load(argumentAt(0)), ...allowOnly(SOCKET_FAMILIES, EAFNOSUPPORT)]),
    give(ALLOW),
  ];
  const bytes = Buffer.alloc(8 * program.length);
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, 8 * index);
    bytes.writeUInt8(ifTrue, 8 * index + 2);
    bytes.writeUInt8(ifFalse, 8 * index + 3);
    bytes.writeUInt32LE(value >>> 0, 8 * index + 4);
  }
  return bytes;
}

/** The descriptor from which a filter is read inside of the sandbox. */
export const FILTER_DESCRIPTOR = 4;

/**
 * A command line in front of another that installs the filter from the descriptor, for sandboxes that cannot do it: Node
 * has no system calls, and Perl, which is part of nearly every Linux system, has. It ends with 125 when the kernel refuses.
 */
export function perlLoader(perl: string, machine: string): readonly string[] | undefined {
  const arch = ARCHITECTURES[machine];
  if (arch === undefined) return undefined;
  const script = [
    `open(my $in, '<&=', ${FILTER_DESCRIPTOR}) or exit 125`,
    'binmode $in',
    'my $program = do { local $/; <$in> }',
    'close $in',
    "my $filter = pack('S x6 P', length($program) / 8, $program)",
    `syscall(${arch.seccomp}, 1, 0, $filter) == 0 or exit 125`,
    'exec { $ARGV[0] } @ARGV or exit 126',
  ].join('; ');
  return [perl, '-e', script, '--'];
}
