import js from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['lib/', 'build/', 'node_modules/', 'src/generated/', 'style/'] },
  js.configs.recommended,
  ...tseslint.configs.strict,
  {
    files: ['src/**/*.ts', 'test/**/*.ts'],
    rules: {
      'no-control-regex': 'off',
      'max-len': ['error', { code: 150, ignoreStrings: true, ignoreTemplateLiterals: true }],
      '@typescript-eslint/no-non-null-assertion': 'error',
      'no-restricted-properties': [
        'error',
        { property: 'innerHTML', message: 'Everything from a session is text.' },
        { property: 'outerHTML', message: 'Everything from a session is text.' },
        { property: 'insertAdjacentHTML', message: 'Everything from a session is text.' }
      ]
    }
  }
);
