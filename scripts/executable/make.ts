import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Script } from 'node:vm'

export interface Executable {
  /** A CommonJS script that needs nothing but Node itself; it can have no top-level await. */
  script: string
  /** Name in the executable to file. */
  assets: Record<string, string>
  output: string
}

/** Makes one file of a script, its assets and the Node that runs this, for the platform that this runs on. */
export const makeExecutable = ({ script, assets, output }: Executable) => {
  // Beside the output, so that the finished file takes its place in one step: a running one is not written over.
  const folder = mkdtempSync(`${output}-`)
  try {
    const node = join(folder, 'node')
    copyFileSync(process.execPath, node)
    chmodSync(node, 0o755)
    // Stripping after the injection would drop what was injected.
    strip(node)
    inject(node, makeBlob(folder, script, assets))
    if (process.platform === 'darwin') run('codesign', ['--sign', '-', '--force', node])
    renameSync(node, output)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Assets from which a worker thread starts sooner than from its script: V8's own form beside the script, as one function of `require`. */
export const makeWorkerAssets = (script: string): { source: string; cache: string } => {
  const text = `(function (require) {${readFileSync(script, 'latin1')}\n})`
  // V8 keys its form by the script's text, its own version and flags; a thread of the executable has those of this process.
  const paths = { source: `${script}.worker.js`, cache: `${script}.worker.cache` }
  writeFileSync(paths.source, text, 'latin1')
  writeFileSync(paths.cache, new Script(text, { filename: 'chainsieve' }).createCachedData())
  return paths
}

const strip = (file: string) => {
  if (process.platform !== 'linux') return
  const { error } = spawnSync('strip', ['--version'])
  if (error)
    console.warn(
      'The executable will be 20 MB larger than it needs to be, since strip (package binutils) is not installed',
    )
  else run('strip', [file])
}

/** Returns the file that holds script, code cache and assets in the form in which Node finds them. */
const makeBlob = (folder: string, script: string, assets: Record<string, string>): string => {
  const config = join(folder, 'config.json')
  const output = join(folder, 'blob')
  const settings = {
    main: script,
    output,
    assets,
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
    // Worker threads do not start from a snapshot.
    useSnapshot: false,
    // Otherwise a NODE_OPTIONS meant for another program stops this one.
    execArgvExtension: 'none',
  }
  writeFileSync(config, JSON.stringify(settings))
  run(process.execPath, ['--experimental-sea-config', config])
  return output
}

const inject = (node: string, blob: string) => {
  // By its command, since its function prints warnings about section names that mean nothing.
  const postject = createRequire(import.meta.url).resolve('postject/dist/cli.js')
  const fuse = ['--sentinel-fuse', 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2']
  const segment = process.platform === 'darwin' ? ['--macho-segment-name', 'NODE_SEA'] : []
  run(process.execPath, [postject, node, 'NODE_SEA_BLOB', blob, ...fuse, ...segment])
}

const run = (command: string, args: string[]) => {
  const { status, error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (error) throw error
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}: ${stdout}${stderr}`)
}
