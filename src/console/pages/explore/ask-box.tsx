import { useRef, useState } from 'preact/hooks'
import { useAsk } from '../../api/ask.ts'
import { askSuggestions, pauseForTyping, type Suggestion } from '../../api/suggest.ts'
import type { Kind } from '../../api/wire.ts'
import { Form } from '../../parts/controls.tsx'
import { Text } from '../../parts/text.tsx'
import { applySuggestion, wordBefore } from './query.ts'
import type { Draft } from './state.ts'

interface AskBoxProps {
  draft: Draft
  network: string
  onNeeds(kinds: readonly Kind[]): void
}

/** The box of the query. */
export const AskBox = ({ draft, network, onNeeds }: AskBoxProps) => (
  <Form class="ask" onSubmit={draft.submit}>
    <Box draft={draft} network={network} onNeeds={onNeeds} />
    <button type="submit" class="main">
      Search
    </button>
  </Form>
)

const Box = ({ draft, network, onNeeds }: AskBoxProps) => {
  const area = useRef<HTMLTextAreaElement>(null)
  /** End of the word being typed; undefined without suggestions. */
  const [caret, setCaret] = useState<number>()
  const [at, setAt] = useState(-1)
  const word = caret === undefined || draft.text.trim().startsWith('{') ? '' : wordBefore(draft.text, caret).word
  const key = word.length < SHORTEST || /^\d+$/.test(word) ? undefined : `${network} ${word}`
  const found = useAsk(key, signal => pauseForTyping(signal).then(() => askSuggestions(network, word, signal)))
  const offers = key === undefined || found.error !== undefined ? [] : (found.data ?? [])

  const close = () => {
    setCaret(undefined)
    setAt(-1)
  }
  const take = (offer: Suggestion) => {
    const next = applySuggestion(draft.text, caret ?? draft.text.length, offer)
    draft.set(next.text, 'box')
    onNeeds(next.needs)
    close()
    requestAnimationFrame(() => {
      area.current?.focus()
      area.current?.setSelectionRange(next.caret, next.caret)
    })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (offers.length > 0 && step !== 0) {
      event.preventDefault()
      return setAt(at => Math.min(Math.max(at + step, -1), offers.length - 1))
    }
    if (event.key === 'Escape' && offers.length > 0) return close()
    if (event.key !== 'Enter' || event.shiftKey) return
    const chosen = offers[at]
    if (!chosen && draft.text.trim().startsWith('{') && !event.ctrlKey) return
    event.preventDefault()
    if (chosen) return take(chosen)
    close()
    draft.submit()
  }

  return (
    <div class="box">
      <textarea
        ref={area}
        aria-label="Query"
        aria-autocomplete="list"
        aria-controls="suggestions"
        aria-activedescendant={at >= 0 && at < offers.length ? `suggestion-${at}` : undefined}
        rows={1}
        spellcheck={false}
        placeholder="Address, hash, block number, name, field:value, or a query in JSON"
        value={draft.text}
        onInput={event => {
          draft.set(event.currentTarget.value, 'box')
          setCaret(event.currentTarget.selectionEnd)
          setAt(-1)
        }}
        onKeyDown={onKeyDown}
        onBlur={close}
      />
      <div
        id="suggestions"
        class="offers"
        role="listbox"
        aria-label="Suggestions"
        tabIndex={-1}
        hidden={offers.length === 0}
      >
        {offers.map((offer, i) => (
          <div
            key={`${offer.kind} ${offer.field} ${offer.text} ${offer.address}`}
            id={`suggestion-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === at}
            // The box keeps the focus.
            onMouseDown={event => {
              event.preventDefault()
              take(offer)
            }}
          >
            <Text value={offer.text} most={48} brief />
            <span class="dim">
              {offer.kind}
              {offer.kind === 'field' ? ` of ${offer.entity.replaceAll(',', ', ')}` : ''}
              {offer.address === undefined ? '' : ` ${offer.address}`}
            </span>
          </div>
        ))}
      </div>
    </div>
  )
}

const SHORTEST = 2
