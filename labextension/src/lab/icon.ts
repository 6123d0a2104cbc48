/** The icon of tool calls: three objects, one made from the other. */
import { LabIcon } from '@jupyterlab/ui-components';

const svgstr = `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 22 22">
  <g class="jp-icon3" fill="none" stroke="#616161" stroke-width="1.6" stroke-linejoin="round">
    <rect x="2.5" y="7.500" width="6" height="6" rx="1.500"/>
    <rect x="13.500" y="3" width="6" height="6" rx="1.500"/>
    <rect x="13.500" y="13" width="6" height="6" rx="1.500" stroke-dasharray="2 1.500"/>
    <path d="M8.500 10.500h2.200M13.500 6h-1.300q-1.500 0-1.500 1.500v6.500q0 2 1.500 2h1.300"/>
  </g>
</svg>`;

export const callsIcon = new LabIcon({ name: 'jupyter-toolcall:calls', svgstr });
