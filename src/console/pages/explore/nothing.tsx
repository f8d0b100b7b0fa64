import { useAsk } from '../../api/use-ask.ts'
import { Empty } from '../../parts/empty.tsx'
import { plain } from '../../parts/visible.ts'
import { setQuery } from '../../shell/router.tsx'
import { askSuggestions } from './ask-suggestions.ts'
import type { Search } from './state.ts'
import { choose } from './suggest.ts'

/** In place of hits: what may have been meant. */
export const Nothing = ({ search: { network, text, kinds } }: { search: Search }) => {
  const isWord = /^[\p{L}\p{N}_$ -]{2,60}$/u.test(text)
  const { data = [] } = useAsk(isWord ? `${network} ${text}` : undefined, signal =>
    askSuggestions(network, text, signal),
  )
  const offers = isWord ? data.filter(({ kind }) => kind !== 'field') : []
  return (
    <Empty title="Nothing was found">
      {offers.length > 0 && (
        <>
          <p>You may mean:</p>
          <ul>
            {offers.map(offer => (
              <li key={`${offer.kind} ${offer.field} ${offer.text} ${offer.address}`}>
                <button
                  type="button"
                  class="link"
                  onClick={() => {
                    const { text, needs } = choose('', 0, offer)
                    const all = [...new Set([...kinds, ...needs])]
                    setQuery({ q: offer.address ?? text, kinds: all.join() })
                  }}
                >
                  {plain(offer.text)}
                </button>{' '}
                <span class="dim">{offer.kind}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      <p>Choose further kinds, or ask for less. An empty box shows the newest documents.</p>
    </Empty>
  )
}
