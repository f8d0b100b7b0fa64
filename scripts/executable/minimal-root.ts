import { spawnSync } from 'node:child_process'
import { lstatSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const SUITE = 'bookworm'

/**
 * The root folder of a Debian that has nothing but what Debian cannot do without, to show that the executable needs no more.
 * Made once per machine by debootstrap, which is installed where it is missing; `unable` says why it could not be made.
 */
export const minimalRoot = (): { root: string } | { unable: string } => {
  if (process.getuid?.() !== 0) return { unable: 'only root can make a Debian root and go into it' }
  const root = join(tmpdir(), `chainsieve-${SUITE}-minbase`)
  if (isOurs(root)) return { root }
  const failed = installed('debootstrap') ?? made(root)
  return failed === undefined ? { root } : { unable: failed }
}

/** Somebody else could have put another one there. */
const isOurs = (root: string): boolean => {
  const state = lstatSync(root, { throwIfNoEntry: false })
  return state?.isDirectory() === true && state.uid === 0 && (state.mode & 0o022) === 0
}

const installed = (name: string): string | undefined => {
  if (!spawnSync(name, ['--version']).error) return undefined
  return (
    run('apt-get', ['update', '--quiet']) ??
    run('apt-get', ['install', '--yes', '--quiet', '--no-install-recommends', name])
  )
}

const made = (root: string): string | undefined => {
  const folder = mkdtempSync(`${root}-`)
  try {
    const failed = run('debootstrap', ['--variant=minbase', SUITE, join(folder, 'root'), ...mirror()])
    if (failed !== undefined) return failed
    rmSync(root, { recursive: true, force: true })
    renameSync(join(folder, 'root'), root)
    return undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The mirror that this machine takes the same release from; debootstrap knows one where there is none. */
const mirror = (): string[] => {
  const { stdout } = spawnSync('apt-get', ['indextargets', '--format', '$(RELEASE) $(COMPONENT) $(REPO_URI)'], {
    encoding: 'utf8',
  })
  const line = (stdout ?? '').split('\n').find(line => line.startsWith(`${SUITE} main `))
  return line ? [line.split(' ')[2]!] : []
}

const run = (command: string, args: string[]): string | undefined => {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  if (error) return `${command}: ${error.message}`
  if (status === 0) return undefined
  return `${command} ${args.join(' ')} ended with ${status}: ${(stdout + stderr).split('\n').slice(-8).join('\n')}`
}
