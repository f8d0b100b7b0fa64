import { autocompletion, type CompletionSource, closeBrackets, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json, jsonParseLinter } from '@codemirror/lang-json'
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { type LintSource, linter, lintGutter, lintKeymap } from '@codemirror/lint'
import { EditorState, Transaction } from '@codemirror/state'
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'

interface Edited {
  set(value: string): void
  remove(): void
}

interface Current {
  value: string
  onChange(value: string): void
  onSubmit?: (() => void) | undefined
  complete?: CompletionSource | undefined
  lint?: LintSource | undefined
}

/** Opens an editor in a shadow root: the page's policy forbids inline style elements. */
export const openEditor = (box: HTMLElement, label: string, current: () => Current): Edited => {
  const root = box.shadowRoot ?? box.attachShadow({ mode: 'open' })
  const parse = jsonParseLinter()
  /** Typed texts not yet returned as the value: they are older than the editor's. */
  const told: string[] = []
  const submit = () => {
    current().onSubmit?.()
    return current().onSubmit !== undefined
  }
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: current().value,
      extensions: [
        // Tab leaves the editor.
        keymap.of([
          { key: 'Mod-Enter', run: submit },
          ...completionKeymap,
          ...defaultKeymap,
          ...historyKeymap,
          ...lintKeymap,
        ]),
        history(),
        lineNumbers(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        json(),
        autocompletion({ override: [context => current().complete?.(context) ?? null] }),
        lintGutter(),
        linter(view => (view.state.doc.length === 0 ? [] : parse(view))),
        linter(view => current().lint?.(view) ?? []),
        syntaxHighlighting(COLOURS),
        THEME,
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        EditorView.lineWrapping,
        EditorView.updateListener.of(update => {
          if (!update.docChanged || update.transactions.some(it => it.annotation(Transaction.remote))) return
          const typed = update.state.doc.toString()
          told.push(typed)
          current().onChange(typed)
        }),
      ],
    }),
  })
  return {
    set(value) {
      const at = told.indexOf(value)
      if (at >= 0) return void told.splice(0, at + 1)
      told.length = 0
      const { doc } = view.state
      if (value === doc.toString()) return
      const changes = { from: 0, to: doc.length, insert: value }
      view.dispatch({ changes, annotations: Transaction.remote.of(true) })
    },
    remove: () => view.destroy(),
  }
}

/** CSS variables of the page work inside the shadow root. */
const THEME = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--field)', border: '1px solid var(--edge)', borderRadius: '3px' },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '1px' },
  '.cm-content': { fontFamily: 'var(--mono)', fontSize: '13px', caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-scroller': { maxHeight: '40vh', overflow: 'auto' },
  '.cm-gutters': { color: 'var(--dim)', backgroundColor: 'var(--raised)', border: 'none' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--chosen)',
  },
  '.cm-tooltip': { color: 'var(--text)', backgroundColor: 'var(--raised)', border: '1px solid var(--edge)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { color: 'var(--text)', backgroundColor: 'var(--chosen)' },
})

const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--code-name)' },
  { tag: tags.string, color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-scalar)' },
])
