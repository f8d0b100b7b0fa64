import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { native, PLATFORMS, type Platform, WRITERS } from './platforms.ts'

/** Kept from one build to the next: each is more than 40 MB to fetch. */
const CACHE = 'node_modules/.cache/chainsieve'

interface Locked {
  version: string
  integrity: string
}

const locked = (name: string): Locked => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> }
  return packages[`node_modules/${name}`]!
}

/** The version of Node that the executable of a platform has. */
export const versionOf = (platform: Platform): string => locked(PLATFORMS[platform].node).version

/** The path of the Node that goes into the executable of a platform. */
export const nodeFor = (platform: Platform): string => {
  const { node, bin } = PLATFORMS[platform]
  const { version, integrity } = locked(node)
  if (platform !== native) return fetched(node, version, integrity, bin)
  if (process.versions.node !== version)
    throw new Error(
      `The executable embeds the Node that builds it, which is ${process.versions.node} and not ${version}: run npm run build:executable after npm ci`,
    )
  return process.execPath
}

/** The path of sqlite-vec's native part for a platform. */
export const vectorsFor = (platform: Platform): string => {
  const { vectors, extension } = PLATFORMS[platform]
  if (platform === native) return join('node_modules', vectors, extension)
  const { version, integrity } = locked(vectors)
  return fetched(vectors, version, integrity, extension)
}

/** The path of a Node that runs here and writes what the one of a platform reads. */
export const writerFor = (platform: Platform): string => {
  const version = versionOf(platform)
  if (version === process.versions.node) return process.execPath
  const { node, bin } = PLATFORMS[native!] ?? {}
  const integrity = WRITERS[`${node}@${version}`]
  if (!node || !bin || !integrity)
    throw new Error(
      `The executable of ${platform} has Node ${version}. It is made on Linux x64, or on its own platform by npm run build:executable`,
    )
  return fetched(node, version, integrity, bin)
}

const fetched = (name: string, version: string, integrity: string, bin: string): string => {
  const folder = join(CACHE, `${name}-${version}`)
  const path = join(folder, 'package', bin)
  if (existsSync(path)) return path
  mkdirSync(dirname(folder), { recursive: true })
  const aside = mkdtempSync(`${folder}-`)
  try {
    run('npm', [
      'pack',
      `${name}@${version}`,
      '--silent',
      '--ignore-scripts',
      '--prefer-offline',
      '--pack-destination',
      aside,
    ])
    const tarball = join(aside, `${name}-${version}.tgz`)
    check(tarball, integrity)
    run('tar', ['-xzf', tarball, '-C', aside, `package/${bin}`])
    rmSync(tarball)
    rmSync(folder, { recursive: true, force: true })
    renameSync(aside, folder)
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
  return path
}

const check = (file: string, integrity: string) => {
  const found = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
  if (found !== integrity) throw new Error(`${file} is not what is expected: it has ${found}, and not ${integrity}`)
}

const run = (command: string, args: string[]) => {
  // npm is a script on Windows.
  const { status, error, stderr } = spawnSync(command, args, { encoding: 'utf8', shell: process.platform === 'win32' })
  if (error) throw error
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}: ${stderr}`)
}
