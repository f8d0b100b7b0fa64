import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

export interface Package {
  name: string
  version: string
}

/** Unpacks a pinned npm package below `cache` unless it is there, and gives its folder. */
export const fetchNpm = (cache: string, { name, version }: Package): string =>
  once(cache, { name, version }, folder => {
    // --ignore-scripts: what we only read must not run anything.
    run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder, `${name}@${version}`])
    run('tar', ['-xzf', archive(folder, '.tgz'), '-C', folder, '--strip-components=1'])
  })

/** The same for a wheel of the Python package index, whose hash is compared where it is given; needs `python3` with pip. */
export const fetchPython = (cache: string, { name, version, sha256 }: Package & { sha256?: string }): string =>
  once(cache, { name, version }, folder => {
    run('python3', [
      '-m',
      'pip',
      'download',
      '-q',
      '--no-deps',
      '--only-binary=:all:',
      '-d',
      folder,
      `${name}==${version}`,
    ])
    const wheel = archive(folder, '.whl')
    const hash = createHash('sha256').update(readFileSync(wheel)).digest('hex')
    if (sha256 !== undefined && hash !== sha256) throw new Error(`${wheel} hashes to ${hash}, not to ${sha256}`)
    run('python3', ['-m', 'zipfile', '-e', wheel, folder])
  })

/** Fills a folder aside and renames it, so that a fetch cut short is not taken for a whole one. */
function once(cache: string, { name, version }: Package, fill: (folder: string) => void): string {
  const folder = join(cache, `${name.replace(/^@/, '').replace('/', '-')}-${version}`)
  if (existsSync(folder)) return folder
  const partial = `${folder}.partial`
  rmSync(partial, { recursive: true, force: true })
  mkdirSync(partial, { recursive: true })
  console.log(`fetching ${name} ${version}`)
  fill(partial)
  renameSync(partial, folder)
  return folder
}

function archive(folder: string, ending: string): string {
  const file = readdirSync(folder).find(name => name.endsWith(ending))
  if (file === undefined) throw new Error(`no ${ending} file in ${folder}`)
  return join(folder, file)
}

const run = (command: string, args: string[]) => execFileSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] })
