import { activeKeys, type Shortcut, useKey } from '../browser/keys.ts'
import { createStore, useStore } from '../browser/state.ts'
import { Dialog } from '../parts/controls.tsx'

const listedKeys = createStore<readonly Shortcut[] | undefined>(undefined)

export const showKeys = () => listedKeys.set(activeKeys())

export const KeysDialog = () => {
  const keys = useStore(listedKeys)
  useKey('?', 'Lists these keys', showKeys)
  if (!keys) return null
  return (
    <Dialog title="Keys" onClose={() => listedKeys.set(undefined)}>
      <dl class="keys">
        {keys.map(({ key, does }) => (
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
