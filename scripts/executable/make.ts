import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { FUSE, inspect } from './inspect.ts'
import { nodeFor, writerFor } from './node.ts'
import { native, PLATFORMS, type Platform } from './platforms.ts'
import { warmCache } from './warm.ts'

interface Executable {
  platform: Platform
  /** A CommonJS script that needs nothing but Node itself; it can have no top-level await. */
  script: string
  /** Name in the executable to file. */
  assets: Record<string, string>
  output: string
}

/** Makes one file of a script, its assets and the Node of a platform. */
export const makeExecutable = ({ platform, script, assets, output }: Executable) => {
  mkdirSync(dirname(output), { recursive: true })
  // Beside the output, so that the finished file takes its place in one step: a running one is not written over.
  const folder = mkdtempSync(`${output}-`)
  try {
    const node = join(folder, 'node')
    copyFileSync(nodeFor(platform), node)
    chmodSync(node, 0o755)
    // Stripping after the injection would drop what was injected.
    strip(node, platform)
    const isMac = platform.startsWith('darwin')
    const signs = isMac && process.platform === 'darwin'
    if (signs) run('codesign', ['--remove-signature', node])
    const blob = makeBlob(folder, script, assets, platform)
    inject(node, blob, isMac)
    check(node, blob, platform)
    if (signs) run('codesign', ['--sign', '-', '--force', node])
    renameSync(node, output)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Assets from which a thread starts sooner than from its script: V8's own form beside the script, as one function of `require`.
 * There is none for another platform, whose V8 would have to write it.
 */
export const makeProgramAssets = (
  script: string,
  platform: Platform,
  assets: Readonly<Record<string, string>>,
): Record<string, string> => {
  const text = `(function (require) {${readFileSync(script, 'latin1')}\n})`
  // V8 keys its form by the script's text, its own version and flags; a thread of the executable has those of this process.
  const paths = { source: `${script}.program.js`, cache: `${script}.program.cache` }
  writeFileSync(paths.source, text, 'latin1')
  writeFileSync(paths.cache, platform === native ? warmCache({ text, path: resolve(script), assets }) : '')
  return { 'program.js': paths.source, 'program.cache': paths.cache }
}

/** The strip of another platform is a package of its own. */
const STRIP: Partial<Record<Platform, Partial<Record<Platform, string>>>> = {
  'linux-x64': { 'linux-x64': 'strip', 'linux-arm64': 'aarch64-linux-gnu-strip' },
  'linux-arm64': { 'linux-arm64': 'strip', 'linux-x64': 'x86_64-linux-gnu-strip' },
}

const strip = (file: string, platform: Platform) => {
  const command = native && STRIP[native]?.[platform]
  if (command === undefined) return
  const { error } = spawnSync(command, ['--version'])
  if (error)
    console.warn(
      `The executable of ${platform} will be 20 MB larger than it needs to be, since ${command} (Debian's package ${command === 'strip' ? 'binutils' : `binutils-${command.slice(0, -'-strip'.length)}`}) is not installed`,
    )
  else run(command, [file])
}

/** Returns the file that holds script, code cache and assets in the form in which Node finds them. */
const makeBlob = (folder: string, script: string, assets: Record<string, string>, platform: Platform): string => {
  const config = join(folder, 'config.json')
  const output = join(folder, 'blob')
  const settings = {
    main: script,
    output,
    assets,
    disableExperimentalSEAWarning: true,
    useCodeCache: platform === native,
    // Worker threads do not start from a snapshot.
    useSnapshot: false,
    // Otherwise a NODE_OPTIONS meant for another program stops this one.
    execArgvExtension: 'none',
  }
  writeFileSync(config, JSON.stringify(settings))
  run(writerFor(platform), ['--experimental-sea-config', config])
  return output
}

const inject = (node: string, blob: string, isMac: boolean) => {
  // By its command, since its function prints warnings about section names that mean nothing.
  const postject = createRequire(import.meta.url).resolve('postject/dist/cli.js')
  const segment = isMac ? ['--macho-segment-name', 'NODE_SEA'] : []
  run(process.execPath, [postject, node, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', FUSE, ...segment])
}

/** What can be told of an executable that cannot be run here: that it is one of its platform, and has all of what was injected. */
const check = (node: string, blob: string, platform: Platform) => {
  const { format, machine } = PLATFORMS[platform]
  const [file, injected] = [readFileSync(node), readFileSync(blob)]
  const found = inspect(file)
  if (found.format !== format || found.machine !== machine || !found.fused || !found.named || !file.includes(injected))
    throw new Error(`The executable of ${platform} was not made as it should be: ${JSON.stringify(found)}`)
}

const run = (command: string, args: string[]) => {
  const { status, error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (error) throw error
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}: ${stdout}${stderr}`)
}
