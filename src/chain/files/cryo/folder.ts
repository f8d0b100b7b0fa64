import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { refuse } from '../../../lib/errors.ts'

type Datatype = 'blocks' | 'transactions' | 'logs'

export interface CryoFile {
  path: string
  from: number
  to: number
  size: number
}

export interface CryoFolder {
  path: string
  files: Record<Datatype, CryoFile[]>
  size: number
}

/** network__datatype__from_to_to; an optional label stands before or after the range. */
const NAME = /^.+?__(blocks|transactions|logs)__(?:.*__)?(\d+)_to_(\d+)(?:__.*)?\.parquet$/
const OTHER = /^.+?__[a-z0-9_]+__.+\.parquet$/
/** Maximum depth of subfolders: cryo can create one per network, and in it one per datatype. */
const LEVELS = 2

export const findCryo = async (path: string): Promise<CryoFolder | undefined> => {
  const files: CryoFolder['files'] = { blocks: [], transactions: [], logs: [] }
  let unknown: string | undefined
  for await (const file of parquetIn(path, LEVELS)) {
    const name = file.replace(/.*[\\/]/, '')
    const [, datatype, from, to] = NAME.exec(name) ?? []
    if (datatype)
      files[datatype as Datatype].push({
        path: file,
        from: Number(from),
        to: Number(to),
        size: (await stat(file)).size,
      })
    else if (!OTHER.test(name)) unknown ??= file
  }
  if (!unknown && Object.values(files).every(it => it.length === 0)) return undefined
  if (unknown)
    throw refuse(
      'cryo_unknown_file',
      `${unknown}: its name is not one that cryo gives, such as ethereum__blocks__00000000_to_00000999.parquet. Move it out of the folder, or give it its name back`,
    )
  const size = Object.values(files).reduce((sum, list) => sum + list.reduce((all, it) => all + it.size, 0), 0)
  for (const list of Object.values(files)) checkOverlaps(list.sort((a, b) => a.from - b.from || a.to - b.to))
  checkMissing(path, files)
  return { path, files, size }
}

async function* parquetIn(path: string, levels: number): AsyncGenerator<string> {
  for await (const entry of await opendir(path)) {
    const inner = join(path, entry.name)
    if (entry.isDirectory()) {
      if (levels > 0 && !entry.name.startsWith('.')) yield* parquetIn(inner, levels - 1)
    } else if (entry.name.endsWith('.parquet')) yield inner
  }
}

const checkOverlaps = (files: readonly CryoFile[]) => {
  for (const [i, file] of files.entries()) {
    const before = files[i - 1]
    if (before && file.from <= before.to)
      throw refuse(
        'cryo_overlap',
        `${before.path} and ${file.path} both have block ${file.from}. Leave one of them in the folder`,
      )
  }
}

const checkMissing = (path: string, files: CryoFolder['files']) => {
  for (const datatype of ['transactions', 'logs'] as const)
    for (const { from, to } of files.blocks) {
      let next = from
      for (const file of files[datatype]) if (file.from <= next && next <= file.to) next = file.to + 1
      if (next <= to)
        throw refuse(
          'cryo_missing_file',
          `${path}: no file has the ${datatype} of block ${next}, but one has the block. Let cryo write it: cryo blocks transactions logs --blocks ${next}:${to + 1} --include-columns all`,
        )
    }
  if (files.blocks.length === 0)
    throw refuse(
      'cryo_missing_file',
      `${path}: there are no files of blocks. cryo blocks --include-columns all writes them`,
    )
}
