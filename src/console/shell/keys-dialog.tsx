import { useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { activeKeys, type Key, useKey } from './keys.ts'

export const KeysDialog = () => {
  const [shown, setShown] = useState<readonly Key[]>()
  useKey('?', 'Lists these keys', () => setShown(activeKeys()))
  useKey('/', 'Goes to the search box', () => document.querySelector<HTMLElement>('[data-search]')?.focus())
  if (!shown) return null
  return (
    <Dialog title="Keys" onClose={() => setShown(undefined)}>
      <dl class="keys">
        {shown.map(({ key, does }) => (
          <div key={key}>
            <dt>
              <kbd>{NAMES.get(key) ?? key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

const NAMES: ReadonlyMap<string, string> = new Map([
  [' ', 'Space'],
  ['Escape', 'Esc'],
])
