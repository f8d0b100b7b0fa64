import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { refuse, systemFault } from '../../lib/errors.ts'
import { recoverReady } from '../../lib/recover-address.ts'
import type { RawBlock } from '../wire.ts'
import { parseCryoBlock, readCryo } from './cryo/block.ts'
import { type CryoFolder, findCryo } from './cryo/folder.ts'
import { chainIdOfEra1, parseEra1Block, readEra1 } from './era1/file.ts'
import { type PackLine, type PackOptions, parsePackLine, readPack, readPackLines } from './pack.ts'

export type BlockFile = { path: string; size: number } & (
  | { form: 'pack' }
  | { form: 'era1' }
  | { form: 'cryo'; folder: CryoFolder }
)

/** Looks into files and folders by their first bytes. What is unknown counts as a pack. */
export const findBlockFiles = async (paths: readonly string[]): Promise<BlockFile[]> => {
  const files: BlockFile[] = []
  for (const path of paths) files.push(...(await filesAt(path)))
  return files
}

export const readBlockLines = (file: BlockFile, options: PackOptions = {}): AsyncGenerator<PackLine> => {
  if (file.form === 'pack') return readPackLines(file.path, options)
  return withFaults(file.path, file.form === 'era1' ? readEra1(file.path, options) : readCryo(file.folder, options))
}

async function* withFaults(path: string, lines: AsyncGenerator<PackLine>): AsyncGenerator<PackLine> {
  try {
    yield* lines
  } catch (error) {
    throw systemFault(error, path) ?? error
  }
}

export const parserReady = async (form: PackLine['form']): Promise<void> => {
  if (form === 'era1') await recoverReady()
}

export const parseBlockLine = (line: PackLine, options: PackOptions = {}): RawBlock =>
  PARSERS[line.form ?? 'pack'](line, options)

const PARSERS = { pack: parsePackLine, era1: parseEra1Block, cryo: parseCryoBlock } as const satisfies Record<
  BlockFile['form'],
  unknown
>

export const chainIdOfFiles = async (
  files: readonly BlockFile[],
  options: PackOptions & { signal: AbortSignal },
): Promise<number | undefined> => {
  for (const file of files) {
    const chainId = await fileChainId(file, options)
    if (chainId !== undefined) return chainId
  }
  return undefined
}

const fileChainId = async (
  file: BlockFile,
  options: PackOptions & { signal: AbortSignal },
): Promise<number | undefined> => {
  if (file.form === 'era1') return chainIdOfEra1(file.path, options)
  if (file.form === 'cryo') {
    for await (const line of readCryo(file.folder, options)) return parseCryoBlock(line, options).chainId
    return undefined
  }
  if (options.chainId !== undefined) return options.chainId
  for await (const { block } of readPack(file.path, options)) if (block.chainId !== undefined) return block.chainId
  return undefined
}

const filesAt = async (path: string): Promise<BlockFile[]> => {
  const found = await stat(path).catch(() => undefined)
  // Whoever reads it says what is wrong with it.
  if (!found) return [{ form: 'pack', path, size: 0 }]
  if (found.isFile()) return [await blockFileAt(path, found.size)]
  if (!found.isDirectory()) return [{ form: 'pack', path, size: 0 }]
  try {
    return await blockFilesIn(path, found.size)
  } catch (error) {
    throw systemFault(error, path) ?? error
  }
}

const blockFilesIn = async (path: string, size: number): Promise<BlockFile[]> => {
  const folder = await findCryo(path)
  const era1: BlockFile[] = []
  for (const name of (await readdir(path)).filter(it => it.endsWith('.era1')).sort()) {
    const inner = join(path, name)
    era1.push(await blockFileAt(inner, (await stat(inner)).size))
  }
  if (folder && era1.length > 0)
    throw refuse('import_mixed', `${path}: it has files of cryo and era1 files. Name the era1 files, or move them`)
  if (folder) return [{ form: 'cryo', path, size: folder.size, folder }]
  return era1.length > 0 ? era1 : [{ form: 'pack', path, size }]
}

const blockFileAt = async (path: string, size: number): Promise<BlockFile> => {
  const head = await firstBytes(path)
  if (head === 'PAR1')
    throw refuse('import_parquet_file', `${path}: this is a Parquet file. Name the folder in which cryo wrote it`)
  if (head === 'e2\0\0') return { form: 'era1', path, size }
  if (path.endsWith('.era1'))
    throw refuse('era1_damaged', `${path}: it does not begin as an era1 file does. Download the file again`)
  return { form: 'pack', path, size }
}

const firstBytes = async (path: string): Promise<string> => {
  try {
    await using file = await open(path, 'r')
    const bytes = Buffer.alloc(4)
    await file.read(bytes, 0, 4, 0)
    return bytes.toString('latin1')
  } catch {
    return ''
  }
}
