import { checksumAddress } from '../lib/keccak.ts'
import type { WindowSpec } from './spec.ts'

export interface FirstValue {
  name: string
  value: string
}

/** A key by the names of `by`, with the value that is first in its window. */
export const namedKey = (
  { by = [] }: Pick<WindowSpec, 'by'>,
  key: string,
  first?: FirstValue | undefined,
): Record<string, string | null> => {
  const values = JSON.parse(key) as (string | null)[]
  return {
    ...Object.fromEntries(by.map((name, i) => [name, asShown(values[i] ?? null)])),
    ...(first && { [first.name]: asShown(first.value) }),
  }
}

const SHOWN_ADDRESS = /^0x[\da-f]{40}$/
const asShown = (text: string | null) => (text !== null && SHOWN_ADDRESS.test(text) ? checksumAddress(text) : text)
