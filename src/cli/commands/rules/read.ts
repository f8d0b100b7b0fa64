import type { Readable } from 'node:stream'
import { messageOf, refuse } from '../../../lib/errors.ts'
import { collectAtMost, readAtMost } from '../../../lib/read.ts'
import { type Limits, overLimit } from '../../../limits/index.ts'
import type { Fault } from '../../../rules/schema.ts'

/** The name of a file in output. */
export const nameOf = (file: string): string => (file === '-' ? 'standard input' : file)

/** A JSON file, `-` being standard input. Whatever keeps it from being read is refused without the file's name. */
export const readJson = async (file: string, stdin: Readable, limits: Limits): Promise<unknown> => {
  let bytes: Uint8Array | undefined
  try {
    bytes = file === '-' ? await collectAtMost(stdin, limits.inputFile) : readAtMost(file, limits.inputFile)
  } catch (error) {
    throw refuse('file_unreadable', `It cannot be read: ${messageOf(error)}`, error)
  }
  if (!bytes) throw overLimit('inputFile', limits, 'It')
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown
  } catch (error) {
    throw refuse('file_no_json', `It is not JSON: ${messageOf(error)}`, error)
  }
}

/** `rules.json: config.targetMap[0].value: value must be …` */
export const showFault = (file: string, { path, message }: Fault): string =>
  [nameOf(file), path, message].filter(part => part !== '').join(': ')
