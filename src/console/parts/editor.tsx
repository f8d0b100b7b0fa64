import type { CompletionSource } from '@codemirror/autocomplete'
import type { LintSource } from '@codemirror/lint'
import { useEffect, useRef } from 'preact/hooks'
import { useLoaded } from './loaded.ts'

interface JsonEditorProps {
  label: string
  value: string
  onChange(value: string): void
  /** Ctrl+Enter. */
  onSubmit?: (() => void) | undefined
  complete?: CompletionSource
  lint?: LintSource
}

/** A JSON editor with completion and error marks, loaded on demand. */
export const Editor = ({ label, value, onChange, onSubmit, complete, lint }: JsonEditorProps) => {
  const latest = useRef({ value, onChange, onSubmit, complete, lint })
  latest.current = { value, onChange, onSubmit, complete, lint }
  const { box, loaded } = useLoaded('editor', label, async () => {
    const { openEditor } = await import('./editor-load.ts')
    return element => openEditor(element, label, () => latest.current)
  })
  useEffect(() => loaded.current?.set(value), [value])

  return <div ref={box} class="editor" />
}
