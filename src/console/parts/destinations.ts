import type { Suggestion } from '../api/suggest.ts'
import { hrefOf } from '../routes.ts'
import type { Choice } from './combobox.tsx'
import { shortHex } from './format.ts'
import { isIconName } from './icon.tsx'

/** The page of a document, as a choice. */
export const pageChoice = (network: string, kind: string, id: string, title: string, more?: string): Choice => ({
  value: hrefOf(network, kind, id) ?? '/',
  ...{ title, kind: more ?? PAGE_WORDS[kind], icon: isIconName(kind) ? kind : undefined },
})

const PAGE_WORDS: Record<string, string> = { tx: 'transaction', block: 'block', address: 'address' }

/** The page or the search that a name leads to; undefined for names of fields. */
export const placeOf = (network: string, { text, kind, address }: Suggestion): Choice | undefined => {
  if (address !== undefined) {
    const page = kind === 'token' ? 'token' : 'address'
    return {
      ...pageChoice(network, page, address, text, `${kind} ${shortHex(address)}`),
      icon: kind === 'token' ? kind : 'contract',
    }
  }
  const kinds = SEARCHED[kind]
  if (kinds === undefined) return undefined
  const q = `${kind}:${/^\w+$/.test(text) ? text : JSON.stringify(text)}`
  return {
    value: `/explore?${new URLSearchParams({ network, kinds, q })}`,
    ...{ title: text, kind, icon: isIconName(kind) ? kind : undefined },
  }
}

const SEARCHED: Record<string, string | undefined> = { event: 'event', method: 'tx,call' }
