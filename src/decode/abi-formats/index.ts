import type { AbiFormat } from './format.ts'
import { humanReadable } from './human-readable.ts'
import { artifact, jsonAbi, metadata } from './json-abi.ts'
import { fourByte, openChain, signatureList } from './signature-lists.ts'

/** Every form that is read; the first one that a file has is taken. */
export const FORMATS = {
  artifact,
  metadata,
  fourByte,
  openChain,
  jsonAbi,
  signatureList,
  humanReadable,
} satisfies Record<string, AbiFormat>
