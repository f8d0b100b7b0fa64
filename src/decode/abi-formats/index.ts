import { artifact } from './artifact.ts'
import type { AbiFormat } from './format.ts'
import { fourByte } from './four-byte.ts'
import { humanReadable } from './human-readable.ts'
import { jsonAbi } from './json-abi.ts'
import { metadata } from './metadata.ts'
import { openChain } from './open-chain.ts'
import { signatureList } from './signature-list.ts'

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
