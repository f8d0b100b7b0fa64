import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { type Abi, readAbi } from '../../decode/parse-abi.ts'
import { ChainsieveError, messageOf, refuse, stop } from '../../lib/errors.ts'
import { makePrivateFolder, PRIVATE_FILE, readAtMost, replaceFile } from '../../lib/files.ts'
import { type Log, silent } from '../../lib/log.ts'
import { nearestName } from '../../lib/name-matching.ts'
import { DEFAULT_LIMITS, type Limits, overLimit } from '../../limits/index.ts'

/** A user's ABI, in a JSON file named by its content, which reveals changes. */
export interface StoredAbi extends Abi {
  name: string
  /** Lower-case address of its contract, or null. */
  address: string | null
  /** Lower-case code hash, or null; without address and hash, it applies wherever it fits. */
  codeHash: string | null
  network: string | null
}

interface AbiScope {
  network: string | null
  address: string | null
  codeHash?: string | null
}

export const abiFolder = (data: string): string => join(data, 'abis')

/** Stores all ABI files or none. Logs files of folders that contain no ABI. */
export const storeAbiFiles = (
  folder: string,
  files: readonly string[],
  where: AbiScope,
  limits: Limits = DEFAULT_LIMITS,
  log: Log = silent,
): StoredAbi[] => {
  const abis = files.flatMap(path => abiFilesIn(path, limits, log)).map(file => readAbiFile(file, where, limits))
  keepAbis(folder, abis)
  return abis
}

export const abiIn = (text: string, place: string, where: AbiScope, name: string): StoredAbi => {
  const { name: own = name, ...abi } = readAbi(text, place)
  const { address, codeHash } = lowerCase(where)
  return { name: own, address, codeHash, network: where.network, ...abi }
}

export const readAbiFile = (file: string, where: AbiScope, limits: Limits = DEFAULT_LIMITS): StoredAbi =>
  abiIn(readText(file, limits), file, where, basename(file).replace(/\.(?:json|abi|txt|csv)$/, ''))

export const keepAbis = (folder: string, abis: readonly StoredAbi[]) => {
  makePrivateFolder(folder)
  for (const abi of abis) replaceFile(join(folder, abiFile(abi)), abiText(abi))
}

/** For a folder that nobody reads yet, and that need not outlast a power cut. */
export const writeAbi = (folder: string, abi: StoredAbi) =>
  writeFileSync(join(folder, abiFile(abi)), abiText(abi), { mode: PRIVATE_FILE })

const abiFilesIn = (path: string, limits: Limits, log: Log): string[] => {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path]
  const found: string[] = []
  const skipped: string[] = []
  for (const file of artifactFiles(path)) {
    const lack = lackOf(file, limits)
    if (lack === undefined) found.push(file)
    else skipped.push(`${relative(path, file)} (${lack})`)
  }
  if (found.length === 0)
    throw refuse(
      'bad_abi',
      `${path}: no JSON ABI and no artifact of Foundry or Hardhat is in this folder or below it; build the project first, or name the files`,
    )
  if (skipped.length > 0) {
    const shown = skipped.slice(0, SKIPPED_SHOWN).join(', ')
    const more = skipped.length > SKIPPED_SHOWN ? ` and ${skipped.length - SKIPPED_SHOWN} more` : ''
    log.info('Skipped files without an ABI', { folder: path, files: `${shown}${more}` })
  }
  return found
}

const SKIPPED_SHOWN = 10

/** Why a file is no ABI; undefined if it is one. */
const lackOf = (file: string, limits: Limits): string | undefined => {
  const text = readText(file, limits)
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    return 'not JSON'
  }
  const abi = Array.isArray(content) ? content : (content as { abi?: unknown } | null)?.abi
  if (!Array.isArray(abi)) return 'no ABI'
  if (abi.length === 0) return 'an empty ABI'
  return abi === content && !abi.every(it => ABI_ITEM_TYPES.has(it?.type)) ? 'no ABI' : undefined
}

const ABI_ITEM_TYPES = new Set(['function', 'event', 'error', 'constructor', 'fallback', 'receive'])

/** JSON files below a folder, except compiler inputs and notes of Hardhat. */
export const artifactFiles = (folder: string): string[] => {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(it => it.isFile() && it.name.endsWith('.json') && !it.name.endsWith('.dbg.json'))
      .map(it => join(it.parentPath, it.name))
      .filter(file => !/[\\/]build-info[\\/]/.test(file))
      .sort()
  } catch (error) {
    // A folder may vanish during the read, as by `forge clean`.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

export const abiFile = (abi: StoredAbi): string =>
  `${createHash('sha256').update(abiText(abi)).digest('hex').slice(0, 16)}.json`

/** Omits an absent code hash, as older versions did, to avoid duplicates of an ABI. */
const abiText = (abi: StoredAbi): string =>
  `${JSON.stringify({ ...abi, codeHash: abi.codeHash ?? undefined }, undefined, 2)}\n`

const lowerCase = ({ address, codeHash }: AbiScope) => ({
  address: address?.toLowerCase() ?? null,
  codeHash: codeHash?.toLowerCase() ?? null,
})

const readText = (file: string, limits: Limits): string => {
  try {
    const bytes = readAtMost(file, limits.abiFile)
    if (!bytes) throw overLimit('abiFile', limits, file)
    return bytes.toString()
  } catch (error) {
    if (error instanceof ChainsieveError) throw error
    throw refuse('abi_unreadable', `${file} cannot be read: ${messageOf(error)}`, error)
  }
}

/** Removes all ABIs of these names; `where` narrows them down. Unknown names remove nothing. */
export const removeAbisByName = (folder: string, names: readonly string[], where: AbiScope): StoredAbi[] => {
  const all = readAbiFolder(folder)
  const { address, codeHash } = lowerCase(where)
  const found = all.filter(
    ({ abi }) =>
      names.includes(abi.name) &&
      (where.network === null || abi.network === where.network) &&
      (address === null || abi.address === address) &&
      (codeHash === null || abi.codeHash === codeHash),
  )
  for (const name of names) {
    if (found.some(({ abi }) => abi.name === name)) continue
    const known = all.map(({ abi }) => abi.name)
    if (known.includes(name))
      throw refuse(
        'unknown_abi',
        `no ABI ${name} is for that network, address or code: chainsieve abi list shows all ABIs`,
      )
    const similar = nearestName(name, known)
    throw refuse(
      'unknown_abi',
      `there is no ABI ${name}${similar === undefined ? '' : `, but ${similar}`}: chainsieve abi list shows all ABIs`,
    )
  }
  for (const { path } of found) rmSync(path, { force: true })
  return found.map(({ abi }) => abi)
}

export const readStoredAbis = (folder: string): StoredAbi[] => readAbiFolder(folder).map(({ abi }) => abi)

const readAbiFolder = (folder: string): { path: string; abi: StoredAbi }[] =>
  jsonFileNames(folder).flatMap(name => {
    const abi = findAbi(folder, name)
    return abi ? [{ path: join(folder, name), abi }] : []
  })

/** The JSON files in a folder; none if the folder does not exist. */
export const jsonFileNames = (folder: string): string[] => {
  try {
    return readdirSync(folder)
      .filter(name => name.endsWith('.json'))
      .sort()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Equal for equal ABIs. */
export const abiVersion = (own: readonly StoredAbi[]): string => own.map(abiFile).join()

export const removeAbiFile = (folder: string, file: string): boolean => {
  if (!jsonFileNames(folder).includes(file)) return false
  rmSync(join(folder, file), { force: true })
  return true
}

export const findAbi = (folder: string, file: string): StoredAbi | undefined => {
  const path = join(folder, file)
  try {
    const abi = JSON.parse(readFileSync(path, 'utf8')) as StoredAbi
    return { ...abi, probability: abi.probability ?? 1, codeHash: abi.codeHash ?? null }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw stop('abi_broken', `${path} is broken (${messageOf(error)}): remove it and add that ABI again`, error)
  }
}

export const readOwnAbis = (folder: string, network: string): StoredAbi[] =>
  readStoredAbis(folder).filter(abi => abi.network === null || abi.network === network)

const ABI_LOOK_MS = 1000

/** Derives a value from a network's ABIs, again after changes; a fault leaves the last value. */
export const createAbiWatch = <T>(
  {
    folder,
    network,
    log,
    now = () => performance.now(),
  }: {
    folder: string
    network: string
    log: Log
    now?: () => number
  },
  make: (own: StoredAbi[]) => T,
): ((age?: number) => T) => {
  const look = (): string => jsonFileNames(folder).join()
  let seen = look()
  let lookedAt = now()
  let made = make(readOwnAbis(folder, network))
  let told = ''
  return (age = ABI_LOOK_MS) => {
    if (now() - lookedAt < age) return made
    lookedAt = now()
    try {
      const names = look()
      if (names !== seen) {
        made = make(readOwnAbis(folder, network))
        seen = names
        log.info('Loaded changed ABIs')
      }
      told = ''
    } catch (error) {
      if (told !== messageOf(error)) log.error('Cannot read the ABIs, continues with the previous ones', { error })
      told = messageOf(error)
    }
    return made
  }
}
