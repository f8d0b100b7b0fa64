import { useEffect, useRef, useState } from 'preact/hooks'
import { useAsk } from '../api/ask.ts'
import { searchDocuments } from '../api/client.ts'
import { askSuggestions, pauseForTyping } from '../api/suggest.ts'
import { useKey } from '../browser/keys.ts'
import { navigate, useAddress } from '../browser/router.tsx'
import { type Choice, Combobox } from '../parts/combobox.tsx'
import { Form } from '../parts/controls.tsx'
import { pageChoice, placeOf } from '../parts/destinations.ts'
import { shortHex } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'

/** Finds anything of a network by its hash, number or name; `/` goes there. */
export const JumpBox = ({ network }: { network: string }) => {
  const box = useRef<HTMLDivElement>(null)
  const [text, setText] = useState('')
  const { path } = useAddress()
  const typed = text.trim()
  const isAsked = typed.length >= FEWEST_CHARACTERS && network !== ''
  const found = useAsk(isAsked ? `${network} ${typed}` : undefined, signal =>
    pauseForTyping(signal).then(() => findPlaces(network, typed, signal)),
  )
  const choices = typed === '' ? [] : withSearch(network, typed, found.busy || !isAsked ? [] : (found.data ?? []))
  useKey('/', 'Goes to the search box', () => box.current?.querySelector('input')?.focus())
  useEffect(() => setText(''), [path])

  const go = (to: string | undefined) => {
    if (to === undefined) return
    setText('')
    box.current?.querySelector('input')?.blur()
    navigate(to)
  }
  return (
    <search class="jump" ref={box}>
      <Form onSubmit={() => go(choices[0]?.value)}>
        <Combobox
          {...{ choices, value: text, onInput: setText, onChoose: go }}
          input={{ 'aria-label': 'Search', placeholder: 'Hash, address, block, token or event' }}
        />
      </Form>
      <Icon name="search" />
      <kbd>/</kbd>
    </search>
  )
}

const FEWEST_CHARACTERS = 2

/** Pages for the text, the exact ones first. */
const findPlaces = async (network: string, typed: string, signal: AbortSignal): Promise<Choice[]> => {
  if (HASH.test(typed)) {
    const { hits } = await searchDocuments(network, ['block', 'tx'], ofHash(typed), signal)
    return hits.hits.map(({ _type, _id }) => pageChoice(network, _type, _id, shortHex(_id)))
  }
  const sought = ADDRESS.test(typed) ? typed.toLowerCase() : typed
  const suggestions = await askSuggestions(network, sought, signal)
  return suggestions.flatMap(it => placeOf(network, it) ?? [])
}

const ofHash = (hash: string) => ({ query: { ids: { values: [hash.toLowerCase()] } }, size: 4, _source: false })

const [HASH, ADDRESS, NUMBER] = [/^0x[0-9a-f]{64}$/i, /^0x[0-9a-f]{40}$/i, /^[\d,]{1,12}$/]

/** Adds the page that the text names by itself, and the search for it. */
const withSearch = (network: string, typed: string, found: readonly Choice[]): Choice[] => {
  const search: Choice = {
    value: `/explore?${new URLSearchParams({ network, q: typed })}`,
    title: typed,
    ...{ kind: 'search in Explore', icon: 'search' },
  }
  const own = NUMBER.test(typed)
    ? [pageChoice(network, 'block', typed.replaceAll(',', ''), `Block ${typed}`)]
    : ADDRESS.test(typed)
      ? [pageChoice(network, 'address', typed, typed)]
      : []
  const isExact = ({ title = '' }: Choice) => HASH.test(typed) || title.toLowerCase() === typed.toLowerCase()
  const all = [...own, ...found.filter(isExact), search, ...found.filter(it => !isExact(it))]
  return all.filter(({ value }, i) => all.findIndex(it => it.value === value) === i)
}
