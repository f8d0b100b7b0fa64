import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makePrivateFolder, PRIVATE_FILE } from '../lib/private.ts'
import { abiFile, fileNames, type StoredAbi } from './abis.ts'

/**
 * That what a network holds is to be decoded anew by an ABI. It is noted in a file of its own, beside which the store may be open elsewhere, and
 * how far it has come is noted there too: a step that was done and not noted is done again, and finds nothing left to change.
 */
export interface Redecoding {
  path: string
  network: string
  /** File of the ABI. */
  abi: string
  /** The newest block that is still to be looked at; null before the first step. */
  next: number | null
}

export const redecodeFolder = (data: string): string => join(data, 'redecode')

/** Each time it is asked for counts, also of an ABI for which it was: others may have changed meanwhile. */
export const askToRedecode = (folder: string, abi: StoredAbi, networks: readonly string[]) => {
  makePrivateFolder(folder)
  for (const network of networks) {
    const name = [Date.now(), network.replaceAll('/', '~'), abiFile(abi)].join('-')
    write({ path: join(folder, name), network, abi: abiFile(abi), next: null })
  }
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

export const endRedecoding = ({ path }: Redecoding) => rmSync(path, { force: true })

const write = ({ path, ...redecoding }: Redecoding) => {
  writeFileSync(`${path}.new`, JSON.stringify(redecoding), { mode: PRIVATE_FILE })
  renameSync(`${path}.new`, path)
}
