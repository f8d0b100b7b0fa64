import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { makePrivateFolder, PRIVATE_FILE } from '../../lib/private-files.ts'
import { abiFile, jsonFileNames, type StoredAbi } from '../decoding/abis.ts'

/** A request to decode a network again, with its progress; a step done twice changes nothing. */
export interface RedecodeRequest {
  path: string
  network: string
  abi: string
  /** The newest block that is still to be looked at; null before the first step. */
  next: number | null
  inCluster?: true
}

export const redecodeFolder = (data: string): string => join(data, 'redecode')

/** Each time it is asked for counts, also of an ABI for which it was: others may have changed meanwhile. */
export const askToRedecode = (folder: string, abi: StoredAbi, networks: readonly string[]): RedecodeRequest[] =>
  askToRedecodeBy(folder, abiFile(abi), networks)

export const askToRedecodeBy = (folder: string, file: string, networks: readonly string[]): RedecodeRequest[] => {
  makePrivateFolder(folder)
  return networks.map(network => {
    const name = [Date.now(), network.replaceAll('/', '~'), file].join('-')
    const redecoding = { path: join(folder, name), network, abi: file, next: null }
    writeRedecode(redecoding)
    return redecoding
  })
}

export const openRedecodings = (folder: string, network?: string): RedecodeRequest[] =>
  jsonFileNames(folder).flatMap(name => {
    const path = join(folder, name)
    try {
      const redecoding = { ...(JSON.parse(readFileSync(path, 'utf8')) as Omit<RedecodeRequest, 'path'>), path }
      return network === undefined || redecoding.network === network ? [redecoding] : []
    } catch {
      // It ended in the meantime, or is broken and does not name its network.
      return []
    }
  })

export const noteProgress = (redecoding: RedecodeRequest, next: number) => {
  redecoding.next = next
  writeRedecode(redecoding)
}

export const noteStoreDone = (redecoding: RedecodeRequest) => {
  redecoding.inCluster = true
  noteProgress(redecoding, Number.MAX_SAFE_INTEGER)
}

export const noteBack = (redecoding: RedecodeRequest) => {
  delete redecoding.inCluster
  redecoding.next = null
  writeRedecode(redecoding)
}

export const endRedecoding = ({ path }: RedecodeRequest) => {
  rmSync(path, { force: true })
  rmSync(stopFile(path), { force: true })
}

export const redecodeId = ({ path }: RedecodeRequest): string => basename(path, '.json')
export const askedAt = (redecoding: RedecodeRequest): number => Number(redecodeId(redecoding).split('-')[0])

/** A file of its own, since each step of decoding writes the other one. */
const stopFile = (path: string): string => path.replace(/\.json$/, '.stop')

/** Decoding ends before the next step, and keeps what is done. What has not begun ends at once. */
export const stopRedecode = ({ path }: RedecodeRequest, hasBegun: boolean) => {
  writeFileSync(stopFile(path), '', { mode: PRIVATE_FILE })
  if (!hasBegun) rmSync(path, { force: true })
}

export const isStopped = ({ path }: RedecodeRequest): boolean => existsSync(stopFile(path))

const writeRedecode = ({ path, ...redecoding }: RedecodeRequest) => {
  writeFileSync(`${path}.new`, JSON.stringify(redecoding), { mode: PRIVATE_FILE })
  renameSync(`${path}.new`, path)
}
