//Maya ASCII 2026 scene
//Name: render_document.ma
//Codeset: UTF-8
requires maya "2026";
requires -nodeType "materialxStack" -nodeType "MaterialXSurfaceShader" -dataType "MxDocumentStackData"
		 "LookdevXMaya" "1.8.0";
currentUnit -l centimeter -a degree -t film;
fileInfo "application" "maya";
fileInfo "product" "Maya 2026";
fileInfo "version" "2026";
createNode MaterialXSurfaceShader -name "gold";
	rename -uuid "2C3B3A40-0000-4000-8000-000000000005";
	setAttr ".ufePath" -type "string" "|materialXStack1|materialXStackShape1,%document1%Standard_Surface1";
	setAttr ".renderDocument" -type "string" "<?xml version=\"1.0\"?>\n<materialx version=\"1.38\">\n  <standard_surface name=\"standard_surface1\" type=\"surfaceshader\" nodedef=\"ND_standard_surface_surfaceshader\">\n    <input name=\"base_color\" type=\"color3\" value=\"0.9, 0.6, 0.2\" />\n    <input name=\"metalness\" type=\"float\" value=\"1\" />\n    <input name=\"specular_roughness\" type=\"float\" value=\"0.3\" />\n  </standard_surface>\n  <surfacematerial name=\"Standard_Surface1\" type=\"material\" nodedef=\"ND_surfacematerial\">\n    <input name=\"surfaceshader\" type=\"surfaceshader\" nodename=\"standard_surface1\" />\n  </surfacematerial>\n</materialx>\n";
createNode shadingEngine -name "goldSG";
	rename -uuid "2C3B3A40-0000-4000-8000-000000000006";
	setAttr ".isHistoricallyInteresting" 0;
connectAttr "gold.outColor" "goldSG.surfaceShader";
// End of render_document.ma
