import { messageOf, refuse } from '../lib/errors.ts'
import type { Abi, AbiContent, AbiFormat } from './abi-formats/format.ts'
import { humanReadable } from './abi-formats/human-readable.ts'
import { artifact, jsonAbi, metadata } from './abi-formats/json-abi.ts'
import { fourByte, openChain, signatureList } from './abi-formats/signature-lists.ts'

export type { Abi }

/**
 * Reads any of the forms in `abi-formats/`, as compilers, services and people write them. Each
 * declaration is returned once. `place` is the file's name for messages.
 */
export const readAbi = (text: string, place: string): Abi => {
  const content = parseContent(text.replace(/^\uFEFF/, ''), place)
  const format = Object.values<AbiFormat>(FORMATS).find(({ is }) => is(content))
  if (!format) throw refuse('bad_abi', `${place}: it contains no ABI; ${ABI_REMEDY}`)
  return format.read(content, place)
}

const parseContent = (text: string, place: string): AbiContent => {
  if (!/^\s*[[{]/.test(text)) return { text }
  try {
    return { json: JSON.parse(text) }
  } catch (cause) {
    throw refuse('bad_abi', `${place}: not JSON (${messageOf(cause)}); ${ABI_REMEDY}`, cause)
  }
}

const ABI_REMEDY =
  "give a JSON ABI, a Foundry or Hardhat artifact, Sourcify's metadata.json, a list of signatures from 4byte or OpenChain, or signatures " +
  'such as event Transfer(address indexed from, address indexed to, uint256 value), one a line or as a JSON array'

/** Supported formats in the order in which they are tried. */
export const FORMATS = {
  artifact,
  metadata,
  fourByte,
  openChain,
  jsonAbi,
  signatureList,
  humanReadable,
} satisfies Record<string, AbiFormat>
