import { useEffect, useMemo, useState } from 'preact/hooks'
import { messageOf } from '../../api/client.ts'
import type { Kind } from '../../api/wire.ts'
import { setQuery } from '../../shell/router.tsx'
import { readQuestion } from './question.ts'
import { layOut } from './tree.ts'

export type View = 'box' | 'conditions' | 'json'

/** The query while it is written: box, conditions and JSON are views of its one text. */
export interface Draft {
  /** As the box shows it. */
  text: string
  /** The clause that it means, empty for everything; undefined where it cannot be read. */
  clause: string | undefined
  error: string | undefined
  /** As the editor shows it. */
  json: string
  /** What the question is understood as. */
  set(text: string, by: View): void
  submit(): void
}

export const useDraft = (text: string, kinds: readonly Kind[]): Draft => {
  const [draft, setDraft] = useState<{ text: string; by: View }>({ text, by: 'box' })
  useEffect(() => setDraft(draft => (draft.text.trim() === text ? draft : { text, by: 'box' })), [text])
  const kindText = kinds.join()
  const read = useMemo(() => {
    try {
      const clause = readQuestion(draft.text, kinds).query ?? ''
      return { clause, laidOut: clause === '' ? '' : layOut(clause) }
    } catch (error) {
      return { error: messageOf(error) }
    }
  }, [draft.text, kindText])
  return {
    text: draft.text,
    clause: read.clause,
    error: read.error,
    json: draft.by === 'json' ? draft.text : (read.laidOut ?? draft.text),
    set: (text, by) => setDraft({ text, by }),
    submit: () => setQuery({ q: draft.text.trim(), open: '' }),
  }
}
