import { existsSync } from 'node:fs'
import { type FileHandle, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AbiShelf } from '../../http/manage/routes.ts'
import type { AbiAnswer, WholeAbiAnswer } from '../../http/shapes/management.ts'
import {
  abiFile,
  abiIn,
  jsonFileNames,
  keepAbis,
  removeAbiFile,
  type StoredAbi,
} from '../../ingest/decoding/abi-files.ts'
import { messageOf, refuse } from '../../lib/errors.ts'
import { mapInTurns } from '../../lib/scheduling/event-loop.ts'

/** Longer files are read only up to their head: parsing them would block the event loop. */
const MAX_SHOWN_ABI = 4 * 2 ** 20
const ABI_HEAD_BYTES = 4_096

/** ABIs in a folder for HTTP. Each file is read once, since its name changes with its content. */
export const createAbiShelf = (folder: string): AbiShelf => {
  const known = new Map<string, AbiAnswer>()

  const infoOf = async (file: string): Promise<AbiAnswer | undefined> => {
    const before = known.get(file)
    if (before && existsSync(join(folder, file))) return before
    try {
      const handle = await open(join(folder, file))
      try {
        const info = await readInfo(handle, file)
        known.set(file, info)
        return info
      } finally {
        await handle.close()
      }
    } catch (error) {
      // Removed in the meantime.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw refuse(
        'bad_abi',
        `The ABI ${abiId(file)} cannot be read (${messageOf(error)}): the operator has to remove ${file} from the folder abis, and to add that ABI again.`,
        error,
      )
    }
  }

  return {
    async list({ network, address, codeHash, name }) {
      const found: AbiAnswer[] = []
      const files = jsonFileNames(folder)
      for (const file of files) {
        const info = await infoOf(file)
        if (!info) continue
        const fits =
          (network === undefined || info.network === null || info.network === network) &&
          (address === undefined || info.address === address) &&
          (codeHash === undefined || info.codeHash === codeHash) &&
          (name === undefined || info.name === name)
        if (fits) found.push(info)
      }
      for (const file of known.keys()) if (!files.includes(file)) known.delete(file)
      return found.sort((a, b) => (a.name === b.name ? (a.id < b.id ? -1 : 1) : a.name < b.name ? -1 : 1))
    },

    info: id => infoOf(fileOf(id)),

    async get(id) {
      const info = await infoOf(fileOf(id))
      if (!info) return undefined
      if (info.bytes > MAX_SHOWN_ABI)
        throw refuse(
          'content_too_large_exception',
          `The ABI ${id} has ${info.bytes} bytes, and is shown up to ${MAX_SHOWN_ABI}: read it at the server, in the folder abis.`,
        )
      const stored = JSON.parse(await readFile(join(folder, fileOf(id)), 'utf8')) as StoredAbi
      return { ...info, abi: entriesOf(stored) }
    },

    async add(abis) {
      const stored = await mapInTurns(abis, ({ text, place, name, ...where }): StoredAbi => {
        const abi = abiIn(text, place, where, name ?? 'Unnamed')
        // The given name wins over the name in the file.
        return name === undefined ? abi : { ...abi, name }
      })
      const files = await mapInTurns(stored, abi => {
        keepAbis(folder, [abi])
        return abiFile(abi)
      })
      const added: (AbiAnswer | undefined)[] = []
      for (const file of new Set(files)) added.push(await infoOf(file))
      return added.filter(info => info !== undefined)
    },

    remove: id => removeAbiFile(folder, fileOf(id)),
  }
}

const fileOf = (id: string): string => `${id}.json`
const abiId = (file: string): string => file.replace(/\.json$/, '')

const readInfo = async (handle: FileHandle, file: string): Promise<AbiAnswer> => {
  const { size, mtimeMs } = await handle.stat()
  const isLong = size > MAX_SHOWN_ABI
  const text = isLong
    ? (await handle.read({ buffer: Buffer.alloc(ABI_HEAD_BYTES), position: 0 })).buffer.toString()
    : await handle.readFile('utf8')
  const abi = JSON.parse(isLong ? abiHead(text) : text) as Partial<StoredAbi> & { name: string }
  return {
    id: abiId(file),
    name: abi.name,
    network: abi.network ?? null,
    address: abi.address ?? null,
    codeHash: abi.codeHash ?? null,
    probability: abi.probability ?? 1,
    events: isLong ? null : (abi.events?.length ?? 0),
    functions: isLong ? null : (abi.functions?.length ?? 0),
    errors: isLong ? null : (abi.errors?.length ?? 0),
    bytes: size,
    addedAt: new Date(mtimeMs).toISOString(),
  }
}

/** The members before the declarations, as an object. */
const abiHead = (text: string): string => `${text.slice(0, text.indexOf('"events":')).trimEnd().replace(/,$/, '')}}`

const entriesOf = ({ events, functions, errors = [] }: StoredAbi): WholeAbiAnswer['abi'] => [
  ...events.map(event => ({ type: 'event', ...event })),
  ...functions.map(it => ({ type: 'function', ...it })),
  ...errors.map(error => ({ type: 'error', ...error })),
]
