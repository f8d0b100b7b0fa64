import { useRef, useState } from 'preact/hooks'
import { useAsk } from '../../api/ask.ts'
import { askSuggestions, pauseForTyping, type Suggestion } from '../../api/suggest.ts'
import type { Kind } from '../../api/wire.ts'
import { Combobox } from '../../parts/combobox.tsx'
import { Form } from '../../parts/controls.tsx'
import { isIconName } from '../../parts/icon.tsx'
import { applySuggestion, wordBefore } from './query.ts'
import type { Draft } from './state.ts'

interface AskBoxProps {
  draft: Draft
  network: string
  onNeeds(kinds: readonly Kind[]): void
}

/** The box of the query, which suggests names for the word before the cursor. */
export const AskBox = ({ draft, network, onNeeds }: AskBoxProps) => {
  const form = useRef<HTMLDivElement>(null)
  const [word, setWord] = useState('')
  const input = () => form.current!.querySelector('input')!
  const caret = () => input().selectionEnd ?? draft.text.length
  const key = word.length < SHORTEST || /^\d+$/.test(word) ? undefined : `${network} ${word}`
  const found = useAsk(key, signal => pauseForTyping(signal).then(() => askSuggestions(network, word, signal)))
  const offers = key === undefined || found.error !== undefined ? [] : (found.data ?? [])

  const type = (text: string) => {
    draft.set(text, 'box')
    setWord(text.trim().startsWith('{') ? '' : wordBefore(text, caret()).word)
  }
  const take = (chosen: string) => {
    const next = applySuggestion(draft.text, caret(), offers.find(offer => suggestionKey(offer) === chosen)!)
    draft.set(next.text, 'box')
    onNeeds(next.needs)
    setWord('')
    requestAnimationFrame(() => {
      input().focus()
      input().setSelectionRange(next.caret, next.caret)
    })
  }
  const choices = offers.map(offer => ({
    value: suggestionKey(offer),
    title: offer.text,
    kind: offer.kind === 'field' ? `field of ${offer.entity.replaceAll(',', ', ')}` : offer.kind,
    icon: isIconName(offer.kind) ? offer.kind : undefined,
  }))
  return (
    <div ref={form}>
      <Form class="ask" onSubmit={draft.submit}>
        <Combobox
          {...{ choices, value: draft.text, onInput: type, onChoose: take }}
          input={{
            'aria-label': 'Query',
            placeholder: 'Address, hash, block, name, field:value, or a query in JSON',
            spellcheck: false,
          }}
        />
        <button type="submit" class="main">
          Search
        </button>
      </Form>
    </div>
  )
}

const SHORTEST = 2
const suggestionKey = ({ kind, field, text, address }: Suggestion) => `${kind} ${field} ${text} ${address}`
