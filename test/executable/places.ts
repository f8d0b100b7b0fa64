import { type ChildProcess, spawn } from 'node:child_process'
import { chownSync, copyFileSync, linkSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

export const EXECUTABLE = fileURLToPath(new URL('../../dist/chainsieve', import.meta.url))

/** Where the executable runs: in an empty folder, with no environment but what a test gives. */
export interface Place {
  /** The empty folder, as this process sees it. */
  folder: string
  start(args: string[], env?: Record<string, string>): ChildProcess
  remove(): void
}

export const emptyFolder = (executable = EXECUTABLE): Place => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-empty-'))
  return {
    folder,
    start: (args, env = {}) => spawn(executable, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** In another root folder, as a user that its passwd file does not know. `before` is a shell command that prepares the place, as mounts do. */
export const insideRoot = (root: string, before: string, program = EXECUTABLE): Place => {
  const home = mkdtempSync(join(root, 'srv', 'chainsieve-'))
  const folder = join(home, 'empty')
  mkdirSync(folder)
  for (const path of [home, folder]) chownSync(path, STRANGER, STRANGER)
  const executable = join(home, 'chainsieve')
  try {
    linkSync(program, executable)
  } catch {
    copyFileSync(program, executable)
  }
  const inside = (path: string) => path.slice(root.length)
  // Mounts of a mount namespace of its own go when the process goes, whatever ends it. Each step becomes the next one,
  // so that a signal reaches the program itself.
  const script = `${before}\nexec chroot --userspec=${STRANGER}:${STRANGER} --groups= "$root" /usr/bin/env -i -C "$folder" "$@"`
  return {
    folder,
    start: (args, env = {}) =>
      spawn('unshare', ['--mount', 'sh', '-euc', script, 'sh', ...pairs(env), inside(executable), ...args], {
        env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', root, folder: inside(folder) },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    remove: () => rmSync(home, { recursive: true, force: true }),
  }
}

/** What a command printed and how it ended. */
export const run = async (place: Place, args: string[], env?: Record<string, string>) => {
  const child = place.start(args, env)
  const [code, stdout, stderr] = await Promise.all([ended(child), text(child.stdout!), text(child.stderr!)])
  return { code, stdout, stderr }
}

/** The exit code, or the signal that ended it. */
export const ended = (child: ChildProcess): Promise<number | NodeJS.Signals> =>
  new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(code ?? signal!))
  })

const STRANGER = 54_321
const pairs = (env: Record<string, string>) => Object.entries(env).map(([name, value]) => `${name}=${value}`)
