import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import type { Diagnostic } from '@codemirror/lint'
import type { EditorView } from '@codemirror/view'
import { useRef } from 'preact/hooks'
import { callApi } from '../../api/client.ts'
import { type Json, member, textAt } from '../../api/json.ts'
import type { Kind } from '../../api/wire.ts'
import { Editor } from '../../parts/editor.tsx'
import { visibleText } from '../../parts/format.ts'
import type { KnownValues } from './catalogue.ts'
import { type Catalogue, type Offer, offersAt } from './fields.ts'
import { readQuestion } from './query.ts'
import type { Draft } from './state.ts'
import { pathRange, placeAt } from './tree.ts'

interface DslProps {
  draft: Draft
  network: string
  kinds: readonly Kind[]
  catalogue: Catalogue
  values: KnownValues
}

export const DslEditor = ({ draft, network, kinds, catalogue, values }: DslProps) => {
  const latest = useRef({ network, kinds, catalogue, values })
  latest.current = { network, kinds, catalogue, values }

  const complete = async (context: CompletionContext): Promise<CompletionResult | null> => {
    const text = context.state.doc.toString()
    const place = placeAt(text, context.pos)
    if (place.typed === '' && place.from === place.to && !context.explicit) return null
    const { catalogue, kinds, values } = latest.current
    const offers = await offersAt(place, catalogue, kinds, values)
    const from = context.pos - place.typed.length
    return offers.length === 0 ? null : { from, options: offers.map(toCompletion), validFor: /^[\w.]*$/ }
  }
  const lint = async (view: EditorView): Promise<Diagnostic[]> => {
    const text = view.state.doc.toString()
    const { network, kinds } = latest.current
    return validate(text, network, kinds)
  }
  return (
    <>
      <Editor
        label="The query as JSON"
        value={draft.json}
        onChange={text => draft.set(text, 'json')}
        onSubmit={draft.submit}
        complete={complete}
        lint={lint}
      />
      <p class="dim">
        Ctrl+Space completes, Ctrl+Enter searches. The query is a clause, or a body with <code>query</code> alone.
      </p>
    </>
  )
}

const toCompletion = ({ label, detail, info, after }: Offer): Completion => ({
  label,
  ...(detail !== undefined && { detail }),
  ...(info !== undefined && { info }),
  apply(view) {
    const { doc, selection } = view.state
    // The text may have changed since.
    const { from, to, is } = placeAt(doc.toString(), selection.main.head)
    const hasColon = /^\s*:/.test(doc.sliceString(to, to + 20))
    const [before = '', behind = ''] = is === 'name' && !hasColon ? `: ${after ?? '|'}`.split('|') : []
    const insert = JSON.stringify(label) + before
    view.dispatch({
      changes: { from, to, insert: insert + behind },
      selection: { anchor: from + insert.length },
      userEvent: 'input.complete',
    })
  },
})

/** Errors of the server at their place; the editor reports invalid JSON. */
const validate = async (text: string, network: string, kinds: readonly Kind[]): Promise<Diagnostic[]> => {
  const query = clauseIn(text, kinds)
  if (query === undefined || kinds.length === 0) return []
  const path = `${network}/es/${kinds.join()}/_validate/query?explain=true`
  const answer = await callApi<Json>(path, { body: `{"query":${query}}` }).catch((): Json => null)
  if (member(answer, 'valid') !== false) return []
  const message = (textAt(answer, 'error') ?? 'The query is not valid.').replace(/^\w+_exception: /, '')
  const [place = ''] = /^query[^:\s]*(?=:)/.exec(message) ?? []
  return [{ ...pathRange(text, place), severity: 'error', message: visibleText(message).slice(0, 1_000) }]
}

const clauseIn = (text: string, kinds: readonly Kind[]): string | undefined => {
  try {
    return text.trim().startsWith('{') ? readQuestion(text, kinds).query : undefined
  } catch {
    return undefined
  }
}
