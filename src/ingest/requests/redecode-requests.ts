import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { makePrivateFolder, PRIVATE_FILE } from '../../lib/private-files.ts'
import { abiFile, fileNames, type StoredAbi } from '../decoding/abis.ts'

/** A request to decode a network anew, with its progress; a step done twice changes nothing. */
export interface Redecoding {
  path: string
  network: string
  abi: string
  /** The newest block that is still to be looked at; null before the first step. */
  next: number | null
  /** What the store holds was looked at, and what lies in the cluster is. */
  inCluster?: true
}

export const redecodeFolder = (data: string): string => join(data, 'redecode')

/** Each time it is asked for counts, also of an ABI for which it was: others may have changed meanwhile. */
export const askToRedecode = (folder: string, abi: StoredAbi, networks: readonly string[]): Redecoding[] =>
  askToRedecodeBy(folder, abiFile(abi), networks)

export const askToRedecodeBy = (folder: string, file: string, networks: readonly string[]): Redecoding[] => {
  makePrivateFolder(folder)
  return networks.map(network => {
    const name = [Date.now(), network.replaceAll('/', '~'), file].join('-')
    const redecoding = { path: join(folder, name), network, abi: file, next: null }
    write(redecoding)
    return redecoding
  })
}

/** Those of one network, or of all, the oldest first. */
export const openRedecodings = (folder: string, network?: string): Redecoding[] =>
  fileNames(folder).flatMap(name => {
    const path = join(folder, name)
    try {
      const redecoding = { ...(JSON.parse(readFileSync(path, 'utf8')) as Omit<Redecoding, 'path'>), path }
      return network === undefined || redecoding.network === network ? [redecoding] : []
    } catch {
      // It ended in the meantime. What is broken cannot tell what it is about.
      return []
    }
  })

export const noteProgress = (redecoding: Redecoding, next: number) => {
  redecoding.next = next
  write(redecoding)
}

/** From here on, it is what lies in the cluster that is looked at. */
export const noteStoreDone = (redecoding: Redecoding) => {
  redecoding.inCluster = true
  noteProgress(redecoding, Number.MAX_SAFE_INTEGER)
}

/** Documents came back from the cluster meanwhile: what the store holds is looked at from the beginning. */
export const noteBack = (redecoding: Redecoding) => {
  delete redecoding.inCluster
  redecoding.next = null
  write(redecoding)
}

export const endRedecoding = ({ path }: Redecoding) => {
  rmSync(path, { force: true })
  rmSync(stopFile(path), { force: true })
}

/** By what one is called that is to be stopped, and when it was asked for. */
export const idOf = ({ path }: Redecoding): string => basename(path, '.json')
export const askedAt = (redecoding: Redecoding): number => Number(idOf(redecoding).split('-')[0])

/** Beside the file, since whoever decodes writes that one anew with each step. */
const stopFile = (path: string): string => path.replace(/\.json$/, '.stop')

/** Decoding ends before the next step, and keeps what is done. What has not begun ends at once. */
export const stopRedecoding = ({ path }: Redecoding, hasBegun: boolean) => {
  writeFileSync(stopFile(path), '', { mode: PRIVATE_FILE })
  if (!hasBegun) rmSync(path, { force: true })
}

export const isStopped = ({ path }: Redecoding): boolean => existsSync(stopFile(path))

const write = ({ path, ...redecoding }: Redecoding) => {
  writeFileSync(`${path}.new`, JSON.stringify(redecoding), { mode: PRIVATE_FILE })
  renameSync(`${path}.new`, path)
}
